"""The admin side of checkpoints: what the agents knew, did and why."""
