"""Streams recorded advantage batches; for demonstrations and tests."""
