"""Lets a verl-agent checkout train on a machine without a GPU, its source untouched; see ../check-verl-agent-training.py.

Python loads this file at the start of every process whose PYTHONPATH names its directory. When `verl` is first
imported, what only a GPU has is stood in for: torch's memory figures, NCCL (by gloo), flash attention (by torch's own),
and, if they are missing, torchvision and ALFWorld's package (by empty modules). ALFWorld's games are those of
rooms.py.
"""

import importlib.abc
import importlib.machinery
import sys
import types
from typing import Any

_GAMES = "agent_system.environments.env_package.alfworld.alfworld.agents.environment"
_EMPTY = ("torchvision", "alfworld")


class _Standins(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name == "verl.utils.device":
            _prepare_torch()
            return None
        top = name.partition(".")[0]
        if name == _GAMES or (top in _EMPTY and importlib.machinery.PathFinder.find_spec(top) is None):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: Any) -> types.ModuleType:
        module = types.ModuleType(spec.name)
        module.__path__ = []
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        if module.__name__ == _GAMES:
            import rooms

            module.get_environment = lambda env_type: rooms.Games


def _prepare_torch() -> None:
    import torch
    import torch.distributed.fsdp
    import transformers

    if torch.cuda.is_available():
        return
    for name in ("memory_allocated", "memory_reserved", "max_memory_allocated", "max_memory_reserved"):
        setattr(torch.cpu, name, lambda *_: 0)
    torch.cpu.mem_get_info = lambda *_: (0, 0)
    torch.cpu.empty_cache = lambda: None
    start = torch.distributed.init_process_group
    torch.distributed.init_process_group = lambda backend=None, **keywords: start(backend="gloo", **keywords)
    sharded = torch.distributed.fsdp.FullyShardedDataParallel
    wrap = sharded.__init__
    # One process on the CPU has it all: nothing to synchronize, nowhere to offload to.
    on_cpu = {"sync_module_states": False, "cpu_offload": None}
    sharded.__init__ = lambda self, *rest, **keywords: wrap(self, *rest, **{**keywords, **on_cpu})
    load = transformers.AutoConfig.from_pretrained

    def with_own_attention(*arguments: Any, **keywords: Any) -> Any:
        if keywords.get("attn_implementation") == "flash_attention_2":
            keywords["attn_implementation"] = "sdpa"
        return load(*arguments, **keywords)

    transformers.AutoConfig.from_pretrained = with_own_attention


sys.meta_path.insert(0, _Standins())
