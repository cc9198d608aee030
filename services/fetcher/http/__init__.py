"""Fetching over HTTP from public addresses only, within limits of time, size and politeness."""
