"""Servers and services as children of one process: a whole system on one machine, without anything installed."""
