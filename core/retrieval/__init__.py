"""Pure ranking: how words are analysed, how candidates are scored, fused, reranked and explained."""
