"""Learns which of four answers is right, and reports its advantages, metrics and checkpoints."""

import argparse, json, math, os, random, statistics, time
import echelon_capture as capture

options = argparse.ArgumentParser()
options.add_argument("--lr", type=float)
options.add_argument("--steps", type=int)
options.add_argument("--delay", type=float)
options.add_argument("--folder")
options.add_argument("--resume")
options = options.parse_args()

state = {"step": 0, "scores": [0.0] * 4}
if options.resume:
    with open(options.resume) as file:
        state = json.load(file)
os.makedirs(options.folder, exist_ok=True)

for step in range(state["step"] + 1, options.steps + 1):
    time.sleep(options.delay)
    random.seed(step)
    weights = [math.exp(score) for score in state["scores"]]
    groups, answers, rewards, advantages = [], [], [], []
    for group in range(8):
        chosen = random.choices(range(4), weights, k=8)
        given = [1.0 if answer == 2 else random.choice([0.0, 0.25]) for answer in chosen]
        mean, deviation = statistics.fmean(given), statistics.stdev(given)
        groups += [group] * 8
        answers += chosen
        rewards += given
        advantages += [(reward - mean) / (deviation + 1e-6) for reward in given]
    for answer, advantage in zip(answers, advantages):
        state["scores"][answer] += options.lr * advantage
    capture.batch(
        step,
        estimator=dict(name="grpo"),
        group=groups,
        trajectory=range(64),
        token_level_reward_sum=rewards,
        advantage=advantages,
    )
    print(json.dumps({"step": step, "reward/mean": statistics.fmean(rewards)}), flush=True)
    state["step"] = step
    path = os.path.join(options.folder, f"step-{step}.json")
    with open(path, "w") as file:
        json.dump(state, file)
    capture.checkpoint(step, path)
