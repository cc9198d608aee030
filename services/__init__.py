"""The rooms of the system: one package for each service, and what services share."""
