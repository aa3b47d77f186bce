"""The trackers, each written by its own library."""

from __future__ import annotations

import importlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable

from .series import Series

_STEP = "training_step"
_FIRST_WRONG = "echelon/first_wrong"
_TEXT_FILE = "echelon/first-wrong-row.txt"


@dataclass(frozen=True)
class Place:
    """Where a series is written."""

    to: str
    """A key of TARGETS."""
    project: str
    name: str
    directory: str | None = None
    """Folder of the run's files. Default: that of the library."""


def _library(*names: str) -> Any:
    """The first of these modules that is installed."""
    for name in names:
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    package = names[-1].partition(".")[0]
    raise ImportError(f"{package} is not installed. Run `pip install {package}`.")


def _to_wandb(series: Series, place: Place) -> None:
    """A run; with WANDB_MODE=offline a folder that `wandb sync` uploads."""
    wandb = _library("wandb")
    run = wandb.init(project=place.project, name=place.name, job_type="verification", dir=place.directory)
    run.define_metric(_STEP)
    run.define_metric("echelon/*", step_metric=_STEP)
    for step, values in series.steps:
        run.log({_STEP: step, **values})
    if series.first_wrong is not None:
        run.summary[_FIRST_WRONG] = series.first_wrong
    run.finish()


def _to_mlflow(series: Series, place: Place) -> None:
    """A run of the tracking server in MLFLOW_TRACKING_URI, or of a folder."""
    if place.directory is not None:
        # MLflow 3 refuses a folder without it.
        os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow = _library("mlflow")
    if place.directory is not None:
        mlflow.set_tracking_uri(Path(place.directory).resolve().as_uri())
    mlflow.set_experiment(place.project)
    with mlflow.start_run(run_name=place.name):
        for step, values in series.steps:
            mlflow.log_metrics(values, step=step)
        if series.first_wrong is not None:
            mlflow.set_tag(_FIRST_WRONG, series.first_wrong)
            mlflow.log_text(series.explanation or series.first_wrong, _TEXT_FILE)


def _to_tensorboard(series: Series, place: Place) -> None:
    """Event files in a folder of the run's name below `runs`."""
    library = _library("torch.utils.tensorboard", "tensorboardX")
    folder = os.path.join(place.directory or "runs", place.name)
    with library.SummaryWriter(folder) as writer:
        for step, values in series.steps:
            for name, value in values.items():
                writer.add_scalar(name, value, step)
        if series.first_wrong is not None:
            # Four spaces make a block of code, in which Markdown reads nothing.
            lines = [series.first_wrong, "", *(series.explanation or "").splitlines()]
            writer.add_text(_FIRST_WRONG, "\n".join(f"    {line}" for line in lines))


def _to_trackio(series: Series, place: Place) -> None:
    """A run of the local database, in TRACKIO_DIR or a folder."""
    if place.directory is not None:
        # Read when the library is imported.
        os.environ["TRACKIO_DIR"] = place.directory
    trackio = _library("trackio")
    config = {} if series.first_wrong is None else {_FIRST_WRONG: series.first_wrong}
    trackio.init(project=place.project, name=place.name, config=config)
    for step, values in series.steps:
        trackio.log(values, step=step)
    trackio.finish()


TARGETS: dict[str, Callable[[Series, Place], None]] = {
    "wandb": _to_wandb,
    "mlflow": _to_mlflow,
    "tensorboard": _to_tensorboard,
    "trackio": _to_trackio,
}
"""The trackers by their names. Each raises ImportError without its library."""
