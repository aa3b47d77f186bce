"""The verl-agent engine: trainings and evaluations of a verl-agent checkout, whose source stays untouched."""
