"""What two processes must agree on: events, topics, identifiers, error codes, the database."""
