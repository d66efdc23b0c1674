"""A published generation served from memory-mapped arrays. The door is `mapped.MappedIndex`."""
