"""A ray-worker has one owner, whom it remembers."""

from pathlib import Path

from echelon_rayworker.owner import LEAVING_SECONDS, Owner


def test_the_first_caller_becomes_the_owner_and_others_are_refused(tmp_path: Path) -> None:
    owner = Owner(str(tmp_path))
    assert owner.refusal("one/a", False) == ""
    assert "belongs to this installation as cluster a" in owner.refusal("one/b", False)
    assert "belongs to installation one as cluster a" in owner.refusal("two/a", False)
    assert owner.refusal("one/a", False) == ""
    assert "belongs to" in Owner(str(tmp_path)).refusal("two/a", False), "after a restart"


def test_only_the_owner_releases_it(tmp_path: Path) -> None:
    owner = Owner(str(tmp_path))
    assert owner.refusal("one/a", False) == ""
    assert "belongs to" in owner.refusal("one/b", True)
    assert owner.refusal("one/a", True) == ""
    assert owner.refusal("one/b", False) == ""


def test_calls_that_were_under_way_do_not_make_an_owner_that_has_left_the_owner_again(tmp_path: Path) -> None:
    now = 0.0
    owner = Owner(str(tmp_path), lambda: now)
    assert owner.refusal("one/a", False) == ""
    assert owner.refusal("one/a", True) == ""
    assert owner.refusal("one/a", False) == ""
    assert not (tmp_path / "owner").exists()
    assert Owner(str(tmp_path)).refusal("two/a", False) == ""
    (tmp_path / "owner").unlink()
    now = LEAVING_SECONDS
    assert owner.refusal("one/a", False) == ""
    assert "belongs to installation one" in owner.refusal("two/a", False)


def test_an_operator_who_deletes_the_file_frees_it(tmp_path: Path) -> None:
    owner = Owner(str(tmp_path))
    assert owner.refusal("one/a", False) == ""
    refusal = owner.refusal("two/a", False)
    assert str(tmp_path / "owner") in refusal
    (tmp_path / "owner").unlink()
    assert owner.refusal("two/a", False) == ""
    assert "belongs to" in owner.refusal("one/a", False)


def test_an_ill_formed_owner_is_refused(tmp_path: Path) -> None:
    assert Owner(str(tmp_path)).refusal("no cluster", False) == "echelon-owner must be installation/cluster"
