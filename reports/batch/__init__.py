"""Many traces: found, analysed in parallel, kept per trace, and shown on one page."""
