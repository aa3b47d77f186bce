"""A game of rooms, one actor a game: find the key, then the door."""

import random

import ray

from verl.standin import reach


@ray.remote
class RoomWorker:
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


class Envs:
    def __init__(self, config, count, group, seed):
        number = config.env.resources_per_worker.num_cpus
        self.actors = [RoomWorker.options(num_cpus=number).remote(seed + i // group) for i in range(count)]
        self.game = 0

    def reset(self):
        self.game += 1
        return ray.get([actor.reset.remote(self.game) for actor in self.actors])

    def step(self, actions):
        return ray.get([actor.step.remote(action) for actor, action in zip(self.actors, actions)])


def make_envs(config):
    print("Overall we have 12 games in split=train", flush=True)
    reach(config, "environments")
    n = config.env.rollout.n
    train = None if config.trainer.val_only else Envs(config, config.data.train_batch_size * n, n, config.env.seed)
    print("Training with 12 games", flush=True)
    return train, Envs(config, config.data.val_batch_size, 1, config.env.seed + 1000)
