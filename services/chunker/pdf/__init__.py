"""PDF to blocks: characters with their places, lines in reading order, tables, and the paragraphs they make."""
