"""What makes a process: settings, broker, delivery, Postgres, blobs, logging, metrics, health, errors."""
