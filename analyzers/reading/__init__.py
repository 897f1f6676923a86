"""From bytes to columns: sources, event boundaries, typed decoding, salvage."""
