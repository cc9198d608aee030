"""The migrations: `NNNN_name.sql`, applied in order, each in one transaction, never changed once released."""
