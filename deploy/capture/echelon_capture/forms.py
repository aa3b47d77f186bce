"""What the settings of a trainer mean: the estimator of its batches, as build_batch takes it.

    form = form_of("verl", {"adv_estimator": "gae", "gamma": 1.0, "lam": 0.95, "tokens": True})
    form.of(settings)  # {"name": "gae", "discount": 1.0, "lambda": 0.95}
"""

from __future__ import annotations

from typing import Any, Mapping

from .form import Form
from .form_table import FORMS


def form_of(trainer: str, settings: Mapping[str, Any]) -> Form | None:
    """The form that a trainer's settings select; None if none is known for them. `tokens` in the settings says that the
    rewards and advantages of each token are recorded; all other names are the trainer's."""
    for form in FORMS[trainer]:
        if any(all(_is_one(settings.get(key), values) for key, values in one.items()) for one in form.when):
            return form
    return None


def _is_one(given: Any, values: tuple[Any, ...]) -> bool:
    """Some versions of a trainer have words for flags: "False" and False are the same."""
    if given is None:
        return None in values
    if isinstance(given, (int, float)) and not isinstance(given, bool):
        return given in [value for value in values if not isinstance(value, bool)]
    return str(given).lower() in [str(value).lower() for value in values if value is not None]
