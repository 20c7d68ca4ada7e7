"""The bench: one whole turn over the socket against the bare graph on the stock saver."""
