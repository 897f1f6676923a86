"""Charts by matplotlib: drawn on any axes, and turned into inline SVG for the page."""
