"""One arithmetic of a trainer, and the settings that select it."""

from __future__ import annotations

from typing import Any, Mapping, NamedTuple


class Form(NamedTuple):
    """One arithmetic of a trainer."""

    # The settings that select it, each with the values that it can have; None: it is omitted. One entry is enough.
    when: tuple[Mapping[str, tuple[Any, ...]], ...]
    # Its name, and parameters other than the defaults.
    estimator: Mapping[str, Any]
    # Parameter → the setting whose value it has.
    settings: Mapping[str, str]
    # Columns of the tokens that it starts from. None: it has one advantage a row.
    tokens: tuple[str, ...]

    def of(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """The estimator with the values of the settings; the parameters of omitted ones are the form's."""
        stated = {parameter: settings.get(setting) for parameter, setting in self.settings.items()}
        return {**self.estimator, **{parameter: value for parameter, value in stated.items() if value is not None}}
