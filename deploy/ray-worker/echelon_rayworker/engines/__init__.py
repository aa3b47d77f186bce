"""Engines that a ray-worker can launch, one package each; `registry` finds them."""
