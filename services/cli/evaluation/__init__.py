"""`kb eval`: how well the system finds what it should, on collections of documents, questions and judgments."""
