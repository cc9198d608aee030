"""The HTTP face: one module for each resource, which translates and nothing else."""
