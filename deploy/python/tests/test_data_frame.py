# needs: trl
"""A report as a table of pandas, which the environment of this trainer has."""

from __future__ import annotations

import pytest

import echelon_verify

pytest.importorskip("pandas")


def test_a_data_frame_has_one_line_per_row(faulty):
    table = echelon_verify.verify(**faulty).to_pandas()
    assert list(table["outcome"]).count("wrong") == 1 and table["outcome"][5] == "wrong"
    assert table["group"][15] == "prompt 3"
