"""Use cases, one file per noun. Services know ports, never adapters."""
