"""Alpha and tau over whole query sets, and what is in production with its evidence. The door is `sweeps.Sweeps`."""
