"""Reading pages: which reader gets them, and whether what came is the page that was asked for."""
