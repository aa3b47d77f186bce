"""The command engine: any program of the user's own, on the nodes that are allocated to it."""
