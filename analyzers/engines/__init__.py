"""How engines mark their phases: one engine per file."""
