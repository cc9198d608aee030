"""Models that run in this process, on the CPU, from files that come as wheels or lie in a folder."""
