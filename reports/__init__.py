"""Shows: terminal, JSON, HTML, and the command line."""
