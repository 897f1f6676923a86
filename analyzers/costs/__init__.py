"""FLOPs and bytes per operation: one family per file, each registered with the op names it serves."""
