"""One run of a graph: stream in, events out, one commit at the end."""
