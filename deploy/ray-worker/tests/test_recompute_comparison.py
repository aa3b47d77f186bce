"""The published script that recomputes a comparison: its interval in simulated trainings, and what always holds."""

import importlib.util
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

_PATH = Path(__file__).parents[2] / "examples" / "recompute_comparison.py"
_spec = importlib.util.spec_from_file_location("recompute_comparison", _PATH)
script = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(script)

SEEDS, GAMES, TRIALS = 6, 140, 600


def simulated(chance: np.random.Generator, deviation: float, effect: float) -> tuple[dict, dict[str, float]]:
    """Games of two methods, as `read_games` gives them, and the success of each method. Games of one training share its level: they are
    a cluster; a game is as hard in each training. `effect`: of method a, in shares of success."""
    hardness = chance.normal(0, 0.1, GAMES)
    games, success = {}, {"a": 0.0, "b": 0.0}
    for method, shift in (("a", effect), ("b", 0.0)):
        for seed in range(SEEDS):
            chances = np.clip(0.7 + shift + chance.normal(0, deviation) + hardness, 0, 1)
            solved = chance.random(GAMES) < chances
            success[method] += float(np.mean(solved)) / SEEDS
            games |= {(method, str(seed), f"g{game}"): [one] for game, one in enumerate(solved.astype(float).tolist())}
    return games, success


def covered(deviation: float, effect: float) -> tuple[float, float]:
    """Shares of the simulations whose interval has the true difference: by seed, and over all games."""
    chance = np.random.default_rng(20261128)
    by_seed = naive = 0
    for _ in range(TRIALS):
        games, success = simulated(chance, deviation, effect)
        d = script.differences(games, "a", "b")
        low, high = script.interval(d)
        by_seed += low <= 100 * effect <= high
        p, q = success.values()
        reach = 196 * np.sqrt((p * (1 - p) + q * (1 - q)) / (SEEDS * GAMES))
        naive += abs(100 * (p - q - effect)) <= reach
    return by_seed / TRIALS, naive / TRIALS


def test_the_interval_by_seed_covers_the_truth_and_one_over_all_games_does_not() -> None:
    by_seed, naive = covered(deviation=0.04, effect=0.05)
    assert 0.93 <= by_seed <= 0.97, by_seed
    assert naive < 0.88, naive


def test_the_worked_example_has_the_published_figures() -> None:
    d = np.array([4.3, 1.4, -0.7, 3.6, 2.1, 5.0])
    assert [round(float(one), 2) for one in (np.mean(d), *script.interval(d))] == [2.62, 0.40, 4.83]
    assert script.sign_flip_p(d) == 0.0625


outcomes = st.lists(st.booleans(), min_size=2 * 3 * 4, max_size=2 * 3 * 4)


@given(outcomes, st.integers(0, 2))
def test_exchanged_names_turn_the_sign_and_a_failed_run_never_improves_its_method(solved: list[bool], failed: int) -> None:
    cells = [(method, str(seed), f"g{game}") for method in "ab" for seed in range(3) for game in range(4)]
    games = {cell: [float(one)] for cell, one in zip(cells, solved)}
    d = script.differences(games, "a", "b")
    assert np.array_equal(script.differences(games, "b", "a"), -d)
    assert script.sign_flip_p(-d) == script.sign_flip_p(d)
    lost = {cell: [0.0] if cell[:2] == ("a", str(failed)) else value for cell, value in games.items()}
    assert np.mean(script.differences(lost, "a", "b")) <= np.mean(d)
