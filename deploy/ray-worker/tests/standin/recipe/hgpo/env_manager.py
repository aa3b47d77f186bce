"""A game of rooms: find the key, then the door. One actor plays the games of a group, with the CPUs of all of them."""

import random

import ray

from verl.standin import reach


class Room:
    def __init__(self, seed):
        self._seed, self._place, self._key = seed, 0, False

    def reset(self, game):
        chance = random.Random(f"{self._seed}.{game}")
        self._goal, self._place, self._key = chance.randrange(3), 0, False
        return self._look()

    def step(self, action):
        valid = action < 4
        if action == 3:
            self._key = self._key or self._place == self._goal
        elif valid:
            self._place = action
        won = self._key and self._place == 0
        return self._look(), 10.0 if won else 0.0, bool(won), valid

    def _look(self):
        return f"You are in room {self._place}." + (" You hold the key." if self._key else "")


@ray.remote
class RoomWorker:
    def __init__(self, seed, group):
        self._rooms = [Room(seed) for _ in range(group)]

    def reset(self, game):
        return [room.reset(game) for room in self._rooms]

    def step(self, actions):
        return [room.step(action) for room, action in zip(self._rooms, actions)]


class Envs:
    def __init__(self, config, count, group, seed):
        cpus = config.env.resources_per_worker.num_cpus * group
        self.count, self.group = count, group
        self.actors = [RoomWorker.options(num_cpus=cpus).remote(seed + i, group) for i in range(count // group)]
        self.game = 0

    def reset(self):
        self.game += 1
        return sum(ray.get([actor.reset.remote(self.game) for actor in self.actors]), [])

    def step(self, actions):
        parts = [list(actions[at:at + self.group]) for at in range(0, len(actions), self.group)]
        return sum(ray.get([actor.step.remote(part) for actor, part in zip(self.actors, parts)]), [])


def make_envs(config):
    print("Overall we have 12 games in split=train", flush=True)
    reach(config, "environments")
    n = config.env.rollout.n
    train = None if config.trainer.val_only else Envs(config, config.data.train_batch_size * n, n, config.env.seed)
    print("Training with 12 games", flush=True)
    return train, Envs(config, config.data.val_batch_size, 1, config.env.seed + 1000)
