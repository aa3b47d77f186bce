"""What the verl-agent image holds, asked inside it. Prints a line a check; ends with 1 if one fails.

    python verl_agent.py CHECKOUT [--webshop]

CHECKOUT: this project's. No GPU is needed.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata as metadata
import json
import re
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Callable

PIN = re.compile(r"^([^\s=]+)==(\S+)", re.MULTILINE)
TRAINER = ("torch", "torchvision", "vllm.entrypoints.llm", "vllm.v1.worker.gpu_worker", "transformers", "tensordict",
           "torchdata", "hydra", "omegaconf", "peft", "accelerate", "datasets", "pandas", "pyarrow", "codetiming",
           "cachetools", "liger_kernel", "wandb", "openai", "fastapi", "uvicorn", "pylatexenc", "qwen_vl_utils",
           "ray.util.client", "flash_attn")  # fmt: skip
ALFWORLD = ("alfworld.agents.environment", "textworld", "textworld.gym", "gymnasium", "stable_baselines3", "cv2", "yaml")
WEBSHOP = ("gym", "flask", "bs4", "cleantext", "rank_bm25", "rich", "selenium", "sklearn", "spacy", "thefuzz", "gdown",
           "faiss", "pyserini.search.lucene")  # fmt: skip


def check_lock(checkout: Path) -> str:
    """Every version of the lock is installed, so nothing replaced one; in front of all Ray's."""
    locked = dict(PIN.findall((checkout / "deploy/docker/verl-agent.lock").read_text()))
    wrong = {name: metadata.version(name) for name in locked if metadata.version(name) != locked[name]}
    assert not wrong, f"installed, but not as locked: {wrong}"
    assert tuple(map(int, locked["ray"].split(".")[:2])) >= (2, 53), f"Ray {locked['ray']} has no tokens"
    return f"{len(locked)} packages as locked, Ray {metadata.version('ray')}"


def check_no_verl() -> str:
    """verl-agent is not in the image, so that its setup.py replaced nothing."""
    found = [name for name in ("verl", "agent_system", "gigpo", "recipe") if importlib.util.find_spec(name)]
    assert not found, f"there is {found}"
    return "neither verl nor its parts are installed"


def check_dependencies() -> str:
    """`pip check`: no package lacks one that it needs, in another version than it needs."""
    result = subprocess.run([sys.executable, "-m", "pip", "check"], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout
    return result.stdout.strip()


def check_imports(names: tuple[str, ...]) -> str:
    """Each module can be imported, in a process of its own: some change others."""
    failed = []
    for name in names:
        result = subprocess.run([sys.executable, "-c", f"import {name}"], capture_output=True, text=True)
        if result.returncode:
            failed.append(f"{name}: {result.stderr.strip().splitlines()[-1]}")
    assert not failed, "; ".join(failed)
    return " ".join(names)


def check_game() -> str:
    """ALFWorld's engine: a game is made and played."""
    import textworld

    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/game.z8"
        subprocess.run(["tw-make", "custom", "--world-size", "2", "--quest-length", "2", "--nb-objects", "4", "--seed", "1",
                        "--output", file, "--silent"], check=True)  # fmt: skip
        infos = textworld.EnvInfos(admissible_commands=True, won=True, policy_commands=True)
        env = textworld.start(file, infos)
        state = env.reset()
        while not state["won"]:
            state, _, _ = env.step(state["policy_commands"][0])
    return "a game of TextWorld is made, played and won"


def check_search() -> str:
    """WebShop's search: Java makes an index, and pyserini searches in it."""
    version = subprocess.run(["java", "-version"], capture_output=True, text=True, check=True).stderr.splitlines()[0]
    assert '"11.' in version, version
    with tempfile.TemporaryDirectory() as folder:
        documents, index = Path(folder, "documents"), Path(folder, "index")
        documents.mkdir()
        for number, text in enumerate(("red shoes", "green lamp", "blue shirt")):
            (documents / f"{number}.json").write_text(json.dumps({"id": str(number), "contents": text}))
        subprocess.run([sys.executable, "-m", "pyserini.index.lucene", "--collection", "JsonCollection", "--input", documents,
                        "--index", index, "--generator", "DefaultLuceneDocumentGenerator", "--threads", "1", "--storeRaw"],
                       check=True, capture_output=True)  # fmt: skip
        code = "import sys; from pyserini.search.lucene import LuceneSearcher as S; print(S(sys.argv[1]).search('lamp')[0].docid)"
        hit = subprocess.run([sys.executable, "-c", code, index], check=True, capture_output=True, text=True).stdout
    assert hit.split()[-1] == "1", hit
    return f"{version}; an index is made and searched"


def check_language() -> str:
    """WebShop's model of English."""
    import spacy

    return f"spaCy loads en_core_web_sm: {len(spacy.load('en_core_web_sm')('Red shoes for my sister.'))} words"


def main() -> None:
    """Runs all checks."""
    parser = argparse.ArgumentParser()
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--webshop", action="store_true")
    arguments = parser.parse_args()
    checks: dict[str, Callable[[], str]] = {
        "lock": lambda: check_lock(arguments.checkout),
        "no verl-agent": check_no_verl,
        "dependencies": check_dependencies,
        "trainer": lambda: check_imports(TRAINER),
        "ALFWorld": lambda: check_imports(ALFWORLD),
        "game": check_game,
    }
    if arguments.webshop:
        checks |= {"WebShop": lambda: check_imports(WEBSHOP), "search": check_search, "language": check_language}
    failures = 0
    for name, action in checks.items():
        try:
            print(f"passed  {name}: {action()}", flush=True)
        except Exception as error:  # noqa: BLE001 - the other checks continue
            failures += 1
            detail = traceback.format_exc() if not isinstance(error, AssertionError) else error
            print(f"failed  {name}: {detail}", flush=True)
    sys.exit(min(failures, 1))


if __name__ == "__main__":
    main()
