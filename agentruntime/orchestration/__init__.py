"""What a message does: accept it, decide, drive the thread under its lease."""
