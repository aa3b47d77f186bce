"""The household: its rules, and that what one has seen before matters."""

import pytest

from echelon_rayworker.engines.local import house
from echelon_rayworker.engines.local.house import NOTHING_HAPPENS, Game


def walk_to(game: Game, place: str) -> str:
    """Goes there through its room; returns the last observation."""
    room = game.room_of[place]
    said = ""
    if game._room() != room:
        said, _, valid = game.step(f"go to {room}")
        assert valid
    if game.at != place:
        said, _, valid = game.step(f"go to {place} 1")
        assert valid
    return said


def solve(game: Game, skip_state: bool = False) -> tuple[list[str], float]:
    """Plays with full knowledge; returns what was seen and the last reward."""
    task = game.task
    seen = [walk_to(game, game._place_of(task.thing))]
    seen.append(game.step(f"take {task.thing} 1 from {game.at} 1")[0])
    if task.state and not skip_state:
        appliance = next(name for name, (_, state) in house.APPLIANCES.items() if state == task.state)
        seen.append(walk_to(game, appliance))
        seen.append(game.step(f"{house.APPLIANCES[appliance][0]} {task.thing} 1 with {appliance} 1")[0])
    seen.append(walk_to(game, task.target))
    observation, reward, _ = game.step(f"put {task.thing} 1 in/on {task.target} 1")
    return [*seen, observation], reward


def games(count: int = 60) -> list[Game]:
    return [Game(f"test/{number}") for number in range(count)]


def test_every_game_can_be_solved_well_within_the_steps():
    for game in games():
        seen, reward = solve(game)
        assert reward == 10 and game.done
        assert len(seen) < 15


def test_a_thing_in_the_wrong_state_is_not_enough():
    demanding = [game for game in games() if game.task.state]
    assert len(demanding) > 20
    for game in demanding:
        _, reward = solve(game, skip_state=True)
        assert reward == 0 and not game.done


def test_a_state_replaces_the_one_before():
    game = next(game for game in games() if game.task.state == "hot")
    walk_to(game, game._place_of(game.task.thing))
    thing = game.task.thing
    game.step(f"take {thing} 1 from {game.at} 1")
    for appliance, (verb, _) in sorted(house.APPLIANCES.items(), reverse=True):  # heats before it cools
        walk_to(game, appliance)
        assert game.step(f"{verb} {thing} 1 with {appliance} 1")[2]
    walk_to(game, "microwave")
    game.step(f"heat {thing} 1 with microwave 1")
    walk_to(game, "fridge")
    game.step(f"cool {thing} 1 with fridge 1")
    walk_to(game, game.task.target)
    assert game.step(f"put {thing} 1 in/on {game.task.target} 1")[1] == 0


@pytest.mark.parametrize(
    "command", ["dance", "", "go to moon 1", "take mug 1 from nowhere 1", "put apple 1 in/on bed 1"]
)
def test_what_is_impossible_changes_nothing(command):
    game = Game("test/1")
    before = (game.at, game.admissible())
    assert game.step(command) == (NOTHING_HAPPENS, 0.0, False)
    assert (game.at, game.admissible()) == before


def test_all_admissible_commands_do_something():
    for game in games(20):
        for _ in range(25):
            for command in game.admissible():
                assert command in game.offered()
            observation, _, valid = game.step(sorted(game.admissible())[len(game.at) % len(game.admissible())])
            assert valid and observation != NOTHING_HAPPENS


def test_the_offer_at_the_target_does_not_tell_whether_one_holds_the_thing():
    game = Game("test/2")
    put = f"put {game.task.thing} 1 in/on {game.task.target} 1"
    walk_to(game, game.task.target)
    assert put in game.offered() and put not in game.admissible()
    assert game.step(put) == (NOTHING_HAPPENS, 0.0, False)


def test_one_text_is_reached_with_different_needs():
    """The kitchen looks the same before and after the thing was cleaned: the way on is known from before alone."""
    game = next(game for game in games() if game.task.state == "clean" and game.room_of[game.task.target] != "kitchen")
    walk_to(game, game._place_of(game.task.thing))
    game.step(f"take {game.task.thing} 1 from {game.at} 1")
    elsewhere = next(room for room in game.rooms if room not in ("kitchen", game._room()))
    game.step(f"go to {elsewhere}")
    unclean, offer = game.step("go to kitchen")[0], game.offered()
    walk_to(game, "sinkbasin")
    game.step(f"clean {game.task.thing} 1 with sinkbasin 1")
    game.step(f"go to {elsewhere}")
    assert game.step("go to kitchen")[0] == unclean
    assert game.offered() == offer


def test_a_seed_decides_everything():
    first, again, other = Game("a"), Game("a"), Game("b")
    assert (first.first_observation(), first.contents) == (again.first_observation(), again.contents)
    assert first.first_observation() != other.first_observation()


def test_the_first_observation_states_the_task():
    for game in games(10):
        assert game.first_observation().endswith(f"Your task is to: {game.task.text()}")


def test_after_the_end_nothing_happens():
    game = Game("test/3")
    solve(game)
    assert game.step(game.admissible()[0]) == (NOTHING_HAPPENS, 0.0, False)
