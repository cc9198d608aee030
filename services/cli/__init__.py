"""The command `kb`: puts the rooms together for a person."""
