"""Records: the hook, the phases, the workloads, the calibration. The only room that imports torch."""
