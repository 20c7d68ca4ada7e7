"""What one server process owns and how its health is judged."""
