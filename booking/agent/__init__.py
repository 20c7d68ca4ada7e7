"""The booking agent: understanding, a planner that proposes, a state machine that disposes."""
