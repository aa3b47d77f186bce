"""The data files of an attempt. Their rows carry no task (tasks come from the environments): they only say how many
episodes there are, so that they are written here, without the download of a data set."""

from __future__ import annotations

import os

from .overrides import Overrides

# The prompt is replaced by the environment's observation in every step.
_MODES = {"text": ""}


class DataError(ValueError):
    """The data files cannot be had; the message says the remedy."""


def rows_of(count: int, split: str, mode: str = "text") -> list[dict]:
    """`count` rows of a split (`train`, `test`), as the recipe's own preparation writes them."""
    return [
        {
            "data_source": mode,
            "prompt": [{"role": "user", "content": _MODES[mode]}],
            "ability": "agent",
            "extra_info": {"split": split, "index": index},
        }
        for index in range(count)
    ]


def write_rows(path: str, rows: list[dict]) -> None:
    """Writes a parquet file, whole or not at all. Raises DataError if no writer is installed."""
    temporary = f"{path}.{os.getpid()}"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    try:
        import pyarrow
        import pyarrow.parquet

        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), temporary)
    except ImportError as error:
        raise DataError(f"pyarrow is missing ({error}): install it where the ray-worker runs") from None
    os.replace(temporary, path)


def provide(overrides: Overrides, attempt_dir: str, train_rows: int, val_rows: int) -> None:
    """Makes both files be there, and the overrides name them. Files inside the attempt's directory are written;
    others must exist. Rows that are not stated (0) are a batch of their kind. Raises DataError."""
    stated = (
        ("data.train_files", "train.parquet", "train", train_rows or int(overrides.number("data.train_batch_size", 0))),
        ("data.val_files", "test.parquet", "test", val_rows or int(overrides.number("data.val_batch_size", 0))),
    )
    _check_validation(overrides, stated[1][3])
    for key, name, split, count in stated:
        path = overrides.text(key)
        if path is None:
            path = os.path.join(attempt_dir, "data", name)
            overrides.set(key, path)
        if os.path.commonpath([os.path.abspath(path), os.path.abspath(attempt_dir)]) == os.path.abspath(attempt_dir):
            if count < 1:
                raise DataError(f"the number of {split} rows is not stated: give {split}_rows or data.*_batch_size")
            write_rows(path, rows_of(count, split))
        elif not os.path.exists(path):
            raise DataError(f"{key}={path} does not exist; leave it out, and the attempt writes its own")


def _check_validation(overrides: Overrides, rows: int) -> None:
    size = int(overrides.number("data.val_batch_size", 0))
    if size and rows % size:
        raise DataError(
            f"{rows} validation rows are no multiple of data.val_batch_size={size}, which is the number of "
            f"environments: the last batch would fail; state {rows // size * size or size} rows"
        )
