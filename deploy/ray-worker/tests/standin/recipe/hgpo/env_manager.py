"""A game of rooms: find the key, then the door. One actor plays the games of a group, with the CPUs of all of them."""

import random
import re

import ray

from verl.standin import reach


ACTION = re.compile(r"<action>(\d)</action>")


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

    def reset(self, kwargs):
        self.game += 1
        self.steps = 0
        return self._shown(sum(ray.get([actor.reset.remote(self.game) for actor in self.actors]), [])), [{}] * self.count

    def step(self, text_actions):
        import numpy as np  # not above: the actors' processes need not load it

        found = [ACTION.search(text) for text in text_actions]
        actions = [int(one[1]) if one else 9 for one in found]
        parts = [actions[at:at + self.group] for at in range(0, len(actions), self.group)]
        results = sum(ray.get([actor.step.remote(part) for actor, part in zip(self.actors, parts)]), [])
        self.steps += 1
        seen, rewards, done, valid = zip(*results)
        infos = [{"won": one, "is_action_valid": np.bool_(ok)} for one, ok in zip(done, valid)]
        return self._shown(list(seen)), np.array(rewards), np.array(done), infos

    def success_evaluator(self, total_infos, total_batch_list):
        import numpy as np

        won = [float(infos[-1]["won"]) for infos in total_infos]
        assert [len(infos) for infos in total_infos] == [len(steps) for steps in total_batch_list]
        return {"success_rate": np.array(won), "find_the_key_success_rate": np.array(won)}

    def close(self):
        for actor in self.actors:
            ray.kill(actor)

    def _shown(self, seen):
        """The prompt, and the observation alone."""
        shown = [f"Step {self.steps}. {one} Write <action>N</action> with N from 0 to 3." for one in seen]
        return {"text": shown, "image": None, "anchor": seen}


def make_envs(config):
    print("Overall we have 12 games in split=train", flush=True)
    reach(config, "environments")
    n = config.env.rollout.n
    train = None if config.trainer.val_only else Envs(config, config.data.train_batch_size * n, n, config.env.seed)
    print("Training with 12 games", flush=True)
    return train, Envs(config, config.data.val_batch_size, 1, config.env.seed + 1000)
