"""Indexes beyond memory: one Lance table per profile, searched where it lies. The doors are `writing.write` and `opened.TableIndex`."""
