"""Reads functions of published trainers at pinned commits, to run them as they stand.

SOURCES, the first argument of the program, is a folder with a clone of each repository of REPOSITORIES, named OWNER+NAME, and with
each wheel of WHEELS unpacked (pip download --no-deps; unzip). Statements inside a long method are cut out of it and run with the
variables that they read.
"""

import ast
import math
import subprocess
import sys
import textwrap
from collections import defaultdict
from typing import Any, Optional

import numpy as np
import torch

REPOSITORIES = {
    "trl": ("huggingface+trl", "f2cd57710"),
    "ms-swift": ("modelscope+ms-swift", "3602360a5"),
    "nemo-rl": ("NVIDIA-NeMo+RL", "7ea279abf"),
    "slime": ("THUDM+slime", "624b824a8"),
    "verl": ("verl-project+verl", "1dda039b9"),
    "prime-rl": ("PrimeIntellect-ai+prime-rl", "559b44772"),
    "openrlhf": ("OpenRLHF+OpenRLHF", "3c3be623"),
    "skyrl": ("NovaSky-AI+SkyRL", "a9564572e"),
    "roll": ("alibaba+ROLL", "8eb27cc2"),
    "areal": ("inclusionAI+AReaL", "4aef98d8"),
    "rllm": ("rllm-org+rllm", "9beb6e0f"),
    "tinker": ("thinking-machines-lab+tinker-cookbook", "9dfcc3a2"),
    "g2po": ("Nala-YN+G2PO", "b8ffaf5"),
    "drmas": ("langfengQ+DrMAS", "19c632b"),
    # A fork that has the commits of langfengQ/verl-agent.
    "verl-agent": ("zzj1111+alfworldauto", "20bd331"),
}
WHEELS = {"art": "openpipe_art-0.5.23"}
SOURCES = sys.argv[1]


def source(trainer: str, path: str) -> ast.Module:
    if trainer in WHEELS:
        with open(f"{SOURCES}/{WHEELS[trainer]}/{path}") as file:
            return ast.parse(file.read())
    repository, commit = REPOSITORIES[trainer]
    folder = f"{SOURCES}/{repository}"
    for tree in (f"{folder}/repo", folder):
        shown = subprocess.run(["git", "-C", tree, "show", f"{commit}:{path}"], capture_output=True, text=True)
        if shown.returncode == 0:
            return ast.parse(shown.stdout)
    raise SystemExit(f"{trainer} has no {path} at {commit}: {shown.stderr}")


def named(tree: ast.AST, name: str) -> Any:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return next(node for node in ast.walk(tree) if isinstance(node, kinds) and node.name == name)


def load(trainer: str, path: str, *names: str, **known: Any) -> dict[str, Any]:
    """Functions and classes of a file, without their decorators and annotations."""
    tree = source(trainer, path)
    space: dict[str, Any] = {"torch": torch, "np": np, "defaultdict": defaultdict, "Optional": Optional, "math": math}
    space |= {"List": list, "Dict": dict, "Tuple": tuple, "Any": Any, **known}
    for name in names:
        node = named(tree, name)
        for part in ast.walk(node):
            if isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef)):
                part.returns = None
                part.decorator_list = [d for d in part.decorator_list if "staticmethod" in ast.dump(d)]
                for argument in (*part.args.args, *part.args.kwonlyargs):
                    argument.annotation = None
            if isinstance(part, ast.ClassDef):
                part.decorator_list, part.bases = [], []
        module = ast.fix_missing_locations(ast.Module(body=[node], type_ignores=[]))
        exec(compile("from __future__ import annotations\n" + ast.unparse(module), path, "exec"), space)
    return space


def statements(trainer: str, path: str, method: str, first: str, last: str, **known: Any) -> dict[str, Any]:
    """Runs the statements of a method from the one that starts with `first` to the one that starts with `last`."""
    for body in (getattr(node, "body", []) for node in ast.walk(named(source(trainer, path), method))):
        texts = [ast.unparse(node) for node in body] if isinstance(body, list) else []
        start = next((i for i, text in enumerate(texts) if text.startswith(first)), None)
        if start is not None:
            break
    end = next(i for i, text in enumerate(texts) if i >= start and text.startswith(last))
    space = {"torch": torch, **known}
    exec(compile(textwrap.dedent("\n".join(texts[start : end + 1])), path, "exec"), space)
    return space
