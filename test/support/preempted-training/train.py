"""A small training whose result depends on every step: weights, momentum and the state of its random numbers."""

import argparse, json, os, random, signal, struct, time
import echelon_capture as capture

options = argparse.ArgumentParser()
options.add_argument("--steps", type=int)
options.add_argument("--delay", type=float)
options.add_argument("--folder")
options.add_argument("--weights")
options.add_argument("--torn-at", type=int)
options.add_argument("--resume")
options = options.parse_args()

SAVE_EVERY = 4
WEIGHTS = 64
attempt = int(os.environ["ECHELON_ATTEMPT"])
chance = random.Random(7)
step, weights, momentum = 0, [0.0] * WEIGHTS, [0.0] * WEIGHTS
if options.resume:
    with open(options.resume) as file:
        step, weights, momentum, (version, numbers, spare) = json.load(file)
    chance.setstate((version, tuple(numbers), spare))
os.makedirs(options.folder, exist_ok=True)
if options.torn_at and attempt == 1:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def save():
    """Writes a checkpoint in two portions, and reports it when it is complete."""
    path = os.path.join(options.folder, f"step-{step}.json")
    text = json.dumps([step, weights, momentum, chance.getstate()])
    with open(path, "w") as file:
        file.write(text[: len(text) // 2])
        file.flush()
        if step == options.torn_at and attempt == 1:
            print(json.dumps({"step": step, "torn": 1}), flush=True)
            time.sleep(600)
        file.write(text[len(text) // 2 :])
    capture.checkpoint(step, path)


while step < options.steps:
    time.sleep(options.delay)
    step += 1
    for at in range(WEIGHTS):
        gradient = weights[at] - chance.gauss(1.0, 0.3)
        momentum[at] = 0.9 * momentum[at] + gradient
        weights[at] -= 0.05 * momentum[at]
    print(json.dumps({"step": step, "weight": weights[0]}), flush=True)
    if step % SAVE_EVERY == 0:
        save()
with open(options.weights, "wb") as file:
    file.write(struct.pack(f"{WEIGHTS}d", *weights))
