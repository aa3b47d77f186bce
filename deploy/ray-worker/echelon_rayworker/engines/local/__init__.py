"""Trains a small text policy on the CPU through Ray, with GRPO, GiGPO or HGPO."""
