"""How good one ranking is (nDCG, answer coverage) and how far two rankings differ."""
