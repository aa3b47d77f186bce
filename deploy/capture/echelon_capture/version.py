"""The version of the package, and the name under which its batches state their producer."""

__version__ = "0.1.0"
PRODUCER = f"echelon-capture/{__version__}"
