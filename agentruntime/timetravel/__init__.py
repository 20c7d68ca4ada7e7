"""Checkpoints for operators: history, comparison, forks, replays. Synchronous; runs are sandboxes."""
