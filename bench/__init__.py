"""Benchmarks: ratios in one run, with the peers beside us. Machines are noisy; ratios travel, times do not."""
