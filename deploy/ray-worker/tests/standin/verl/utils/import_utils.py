"""Loads a class from a file, anew for each call."""

import importlib.util
import os


def load_extern_type(file_path, type_name):
    if not os.path.exists(file_path):
        raise FileNotFoundError(f"Custom type file '{file_path}' not found.")
    spec = importlib.util.spec_from_file_location("custom_module", file_path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, type_name)
