"""Pure translations between the runtime's events and the frames of one protocol."""
