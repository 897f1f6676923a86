"""Speed and memory, measured side by side with the alternatives in one run: `python -m benchmarks` or `make bench`."""
