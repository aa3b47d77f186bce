"""Where the metrics of a program are found."""

from __future__ import annotations

from .settings import Settings
from .sources import JsonFile, NoSource, PrintedJson, PrintedPatterns, Report, Source
from .tensorboard import EventFiles


def source_of(settings: Settings, report: Report) -> Source:
    """The source that the settings name. ``report`` takes the step and the metrics."""
    given = settings.metrics
    if "lines" in given:
        return PrintedPatterns(given["lines"], report)
    if "jsonPrefix" in given:
        return PrintedJson(given["jsonPrefix"], report)
    if "jsonFile" in given:
        return JsonFile(settings.directory, given["jsonFile"], report)
    if "tensorboard" in given:
        return EventFiles(settings.directory, given["tensorboard"], report)
    return NoSource()
