"""Text to vector and text to tokens, the same for the stage that embeds and for the service that searches."""
