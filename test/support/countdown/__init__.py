"""The countdown engine: counts down to 1, one number a step."""
