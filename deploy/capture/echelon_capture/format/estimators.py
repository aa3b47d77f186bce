"""The parameters of estimators: which may be stated, which must be, and their defaults."""

from __future__ import annotations

from typing import Any, Mapping

from .columns import checked
from .estimator_table import ESTIMATORS
from .rules import RETURNS

# The fields from which returns are computed or with which they are compared.
_OF_RETURNS = ("gamma", "invalid_action_penalty")
# What an estimator states beside its parameters.
OF_BATCH = ("name", *_OF_RETURNS, "precision", "forms")


def uses_returns(name: str) -> bool:
    """True if the estimator of this name starts from step returns."""
    return name in ESTIMATORS and RETURNS in ESTIMATORS[name].columns


def complete_estimator(estimator: Mapping[str, Any], columns: Mapping[str, Any], incomplete: bool) -> dict[str, Any]:
    """The estimator with all its parameters, once everything that its advantages are computed from is there."""
    stated = dict(checked("estimator", estimator, _stateable()))
    name = stated.get("name")
    if name not in ESTIMATORS:
        raise ValueError(f"estimator.name is {name!r}, not one of {', '.join(ESTIMATORS)}")
    own = ESTIMATORS[name]
    needs = _OF_RETURNS if RETURNS in own.columns and columns.get("reward") is not None else ()
    for key in (*(key for key, rule in own.parameters.items() if rule.default is None), *needs):
        if key not in stated:
            raise ValueError(f"estimator.{key} is missing: {name} needs it")
    for key, rule in own.parameters.items():
        stated.setdefault(key, stated.get(rule.same_as, rule.default))
    given = {column for column, values in columns.items() if values is not None}
    wanted = (*own.columns, *(more for flag, more in own.columns_with.items() if stated[flag]))
    for either in wanted:
        if not incomplete and given.isdisjoint(either):
            raise ValueError(
                f"the column {' or '.join(either)} is missing: {name} needs it; where the trainer does not have it, "
                "pass incomplete=True, and the rows are unverifiable"
            )
    return stated


def _stateable() -> list[str]:
    """What an estimator may state: its own parameters, those of the others, and what holds for the whole batch."""
    rules = [pair for one in ESTIMATORS.values() for pair in one.parameters.items()]
    names = [name for key, rule in rules for name in (key, rule.same_as) if name is not None]
    return list(dict.fromkeys((*OF_BATCH, *names)))
