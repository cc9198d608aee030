"""`kb replay`: how the answers to logged queries would change with another fusion, embedding space or k."""
