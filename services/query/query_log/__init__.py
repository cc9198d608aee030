"""What was searched and answered: noted beside the answers, read by administrators and by `kb replay`."""
