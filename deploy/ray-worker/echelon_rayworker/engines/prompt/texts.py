"""Prompts, and what is read from responses."""

from __future__ import annotations

import re
from typing import Sequence

MAX_ACTION_CHARACTERS = 500
MAX_THOUGHT_CHARACTERS = 2000
_ACTION = re.compile(r"<action>(.*?)</action>", re.DOTALL | re.IGNORECASE)
_THOUGHT = re.compile(r"<think>(.*?)</think>", re.DOTALL | re.IGNORECASE)

_FORM = (
    "First reason about your next step between <think> and </think>. Then choose one of the admissible actions and write "
    "it between <action> and </action>."
)


def local_prompt(task: str, recent: Sequence[str], offered: Sequence[str]) -> str:
    """The prompt of the local environment: what the local engine's policy sees, as text. `recent`: newest first."""
    earlier = [f"- {text}" for text in reversed(recent[1:])]
    history = ["Your observations before that, oldest first:", *earlier] if earlier else []
    return "\n".join([
        "You act in a household. You find things, clean, heat or cool them if asked to, and put them into their places.",
        f"Your task: {task}",
        *history,
        f"Your observation now: {recent[0]}",
        f"Admissible actions: {'; '.join(offered)}",
        _FORM,
    ])


def with_thoughts(prompt: str, thoughts: Sequence[str]) -> str:
    """The prompt, after what the model thought in the steps before."""
    if not thoughts:
        return prompt
    return "\n".join(["Your reasoning in your last steps, oldest first:", *(f"- {one}" for one in thoughts), "", prompt])


def with_reflections(prompt: str, reflections: Sequence[str]) -> str:
    """The prompt, after what the model learned from earlier trials."""
    if not reflections:
        return prompt
    head = "You tried this task before and failed. Your reflections on these trials:"
    return "\n".join([head, *(f"- {one}" for one in reflections), "", prompt])


def reflection_prompt(first: str, steps: Sequence[tuple[str, str]]) -> str:
    """Asks for a reflection on a failed trial. `first`: its first prompt; `steps`: observation and action of each step."""
    played = [line for seen, action in steps for line in (f"Observation: {seen}", f"Action: {action or '(none)'}")]
    return "\n".join([
        "You tried the following task and failed.",
        first,
        "",
        "Your trial:",
        *played,
        "",
        "In a few sentences: why did it fail, and what will you do differently in the next trial?",
    ])


def action_of(response: str) -> str:
    """The action that a response names; empty if it names none."""
    found = _ACTION.search(response)
    return " ".join(found[1].lower().split())[:MAX_ACTION_CHARACTERS] if found else ""


def thought_of(response: str) -> str:
    """The reasoning in a response, on one line; empty if there is none."""
    found = _THOUGHT.search(response)
    return " ".join(found[1].split())[:MAX_THOUGHT_CHARACTERS] if found else ""
