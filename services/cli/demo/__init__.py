"""The demonstration: documents in, cited answers out."""
