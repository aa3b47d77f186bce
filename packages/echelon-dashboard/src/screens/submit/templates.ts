/** Texts to begin with, by name. A text with `axes` is a sweep. */
export const TEMPLATES: Readonly<Record<string, string>> = {
  'local training': `name: my first training
engine: local
estimator:
  name: hgpo
  historyLength: 2
training:
  steps: 60
timeoutSeconds: 600
`,
  'verl-agent on GPUs': `name: HGPO K=4, ALFWorld, 1.5B
engine: verl-agent
recipe: qwen2.5_1.5b_alfworld_train
estimator:
  name: hgpo
  mode: mean_std_norm
  lengthWeightAlpha: 1
environment:
  historyLength: 4   # K, and as many previous steps in the prompt
timeoutSeconds: 86400
`,
  'program of your own': `name: my own program
engine: command
command: [python, train.py, "--lr={lr}"]
parameters:
  lr: 0.02
resources:
  gpus: 1
metrics:
  jsonPrefix: ""
`,
  'replay with a fault': `name: a faulty estimator
engine: replay
replay:
  fault: zero-levels-kept
  batches: 3
`,
  sweep: `name: estimators by seed
method: grid
spec:
  engine: local
  training:
    steps: 60
axes:
  estimator:
    - { name: hgpo, historyLength: 2 }
    - { name: grpo }
  training.seed: [1, 2, 3]
`,
};
