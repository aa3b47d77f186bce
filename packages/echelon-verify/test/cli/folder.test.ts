/** What `verify` says of whole folders of trainers: who wrote them, what was verified, and what records the rest. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { orUnreadable } from '../../src/cli/batch-files.ts';
import { verifyFiles } from '../../src/cli/verify-files.ts';
import { DUMPS, type Folder, folder, jsonLines } from '../support/dump-files.ts';
import { WRITERS, type WrittenStep } from '../support/dump-writers.ts';
import { pickled, torchFile } from '../support/torch-bytes.ts';

const run = promisify(execFile);
const PROGRAM = resolve('packages/echelon-verify/src/cli/main.ts');

/** Two groups whose advantages are reward less mean. */
const STEPS: readonly WrittenStep[] = [
  [
    { group: 0, reward: 1, advantage: 0.5 },
    { group: 0, reward: 0, advantage: -0.5 },
    { group: 1, reward: 3, advantage: 1 },
    { group: 1, reward: 1, advantage: -1 },
  ],
];

/** A folder, and what the report must and must not say of it. */
interface Case {
  readonly name: string;
  readonly make: (dir: Folder) => Promise<unknown>;
  readonly exit: number;
  readonly says: readonly RegExp[];
  readonly never?: RegExp;
}

/** Writes a file in a folder that may not be there yet. */
async function put(dir: Folder, name: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(join(dir.path, name)), { recursive: true });
  await dir.write(name, content);
}

const copied = (from: string) => (dir: Folder) => cp(from, dir.path, { recursive: true });
const written = (name: string) => (dir: Folder) => WRITERS[name]!(dir, STEPS);

/** What Hydra 1.3.8 writes of verl's `main_ppo`, as far as it is read. */
async function hydra(
  dir: Folder,
  { config, folder: cwd }: { config: string; folder: string },
): Promise<void> {
  await put(dir, 'verl/version/version', '0.9.1\n');
  await put(dir, 'out/.hydra/config.yaml', config);
  await put(
    dir,
    'out/.hydra/overrides.yaml',
    "- algorithm.adv_estimator=grpo\n- trainer.experiment_name='my run'\n",
  );
  await put(
    dir,
    'out/.hydra/hydra.yaml',
    `hydra:
  job: {name: main_ppo}
  runtime:
    cwd: ${cwd}
    config_sources:
    - {path: hydra.conf, schema: pkg, provider: hydra}
    - {path: ${dir.path}/verl/trainer/config, schema: file, provider: main}
`,
  );
}

const VERL = 'actor_rollout_ref: {rollout: {n: 4}}\nalgorithm: {adv_estimator: grpo}\n';
const weights = (): Uint8Array => torchFile(pickled.dict({ weight: pickled.float(1) }));

const CASES: readonly Case[] = [
  {
    name: 'a run of TRL',
    make: copied(`${DUMPS}/trl/group`),
    exit: 0,
    says: [
      /^run +TRL: \S+training_args\.bin$/m,
      /3 of 3 batches ok/,
      /Next\n +1\. Loss.*\n.*trl_steps import follow_steps/,
    ],
    never: /log_completions/,
  },
  {
    name: 'a whole output folder of TRL with checkpoints, model card, W&B and TensorBoard',
    make: async (dir) => {
      await copied(`${DUMPS}/trl-contexts/1.16.0/evaluated-epoch`)(dir);
      await put(dir, 'checkpoint-4/optimizer.pt', weights());
      await put(dir, 'checkpoint-4/global_step4/zero_pp_rank_0_mp_rank_00_optim_states.pt', weights());
      await put(dir, 'checkpoint-4/model.safetensors', 'x');
      await put(dir, 'README.md', '### Framework versions\n\n- TRL: 1.16.0\n- Transformers: 5.23.0\n');
      await put(dir, 'runs/Nov29/events.out.tfevents.1.host', 'x');
      await put(dir, 'wandb/run-20261129_1-abc/files/config.yaml', 'wandb_version: 1\n');
    },
    exit: 3,
    says: [
      /^run +TRL 1\.16\.0: /m,
      /^beside +W&B in \S+wandb; TensorBoard in \S+Nov29; 2 checkpoints$/m,
      /8 files in/,
    ],
    never: /optim_states|slime/,
  },
  {
    name: 'a run of TRL that wrote no completions',
    make: (dir) => cp(`${DUMPS}/trl/group/training_args.bin`, join(dir.path, 'training_args.bin')),
    exit: 2,
    says: [
      /^run +TRL/m,
      /no file that can be a batch or a dump/,
      /Next\n +1\. Set it in the GRPOConfig.*\n +log_completions=True/,
    ],
    never: /Looked at/,
  },
  {
    name: 'completions of TRL whose estimator is inferred',
    make: copied(`${DUMPS}/trl/group/completions`),
    exit: 3,
    says: [/1\. The estimator was inferred.*\n +trainer\.save_model\("\//],
  },
  {
    name: 'a run of ms-swift',
    make: copied(`${DUMPS}/ms-swift/grpo`),
    exit: 0,
    says: [/^run +ms-swift: \S+args\.json/m, /swift_steps/],
  },
  {
    name: 'a run of ms-swift without completions, of a known version',
    make: (dir) =>
      put(dir, 'args.json', '{"num_generations": 8, "rlhf_type": "grpo", "swift_version": "4.6.0"}'),
    exit: 2,
    says: [/^run +ms-swift 4\.6\.0/m, /--log_completions true/],
  },
  { name: 'dumps of NeMo-RL', make: written('nemo-rl'), exit: 3, says: [/^run +NeMo-RL/m, /config\.yaml/] },
  {
    name: 'a configuration of NeMo-RL alone',
    make: (dir) => put(dir, 'config.yaml', 'grpo: {}\npolicy: {}\nlogger: {log_dir: logs/exp_001}\n'),
    exit: 2,
    says: [/^run +NeMo-RL/m, /here logs\/exp_001/],
  },
  { name: 'dumps of slime', make: written('slime'), exit: 3, says: [/^run +slime or miles/m] },
  {
    name: 'rollouts of prime-rl',
    make: written('prime-rl'),
    exit: 3,
    says: [/^run +prime-rl/m, /enable_token_export/],
  },
  {
    name: 'rollouts of verl',
    make: (dir) =>
      put(
        dir,
        '7.jsonl',
        jsonLines([0, 1].map((at) => ({ input: '', output: '', score: at, step: 7, uid: `a_${at}_0` }))),
      ),
    exit: 3,
    says: [/^run +verl: the files of/m, /echelon-capture run -- python3 -m verl\.trainer\.main_ppo\n/],
  },
  {
    name: 'the Hydra folder of verl and its checkpoints',
    make: async (dir) => {
      await hydra(dir, { config: VERL, folder: '/data/my run' });
      await put(dir, 'checkpoints/p/e/global_step_5/actor/model_world_size_1_rank_0.pt', weights());
      await put(dir, 'checkpoints/p/e/global_step_5/data.pt', weights());
    },
    exit: 2,
    says: [
      /^run +verl 0\.9\.1: \S+\.hydra\/config\.yaml$/m,
      /^beside +1 checkpoint$/m,
      /cd '\/data\/my run'\n +echelon-capture run -- python3 -m verl\.trainer\.main_ppo algorithm\.adv_estimator=grpo 'trainer\.experiment_name='\\''my run'\\'''\n/,
    ],
    never: /rank_0|slime/,
  },
  {
    name: 'the Hydra folder of verl-agent',
    make: (dir) =>
      hydra(dir, { config: `${VERL}env: {env_name: alfworld, rollout: {n: 8}}\n`, folder: '/data' }),
    exit: 2,
    says: [/^run +verl-agent 0\.9\.1/m, /echelon-capture run/],
  },
  {
    name: 'W&B alone',
    make: async (dir) => {
      const files = 'wandb/offline-run-20261129_1-abc/files';
      await put(
        dir,
        `${files}/config.yaml`,
        'wandb_version: 1\nnum_generations: {value: 8}\noutput_dir: {value: out}\n',
      );
      await put(dir, `${files}/requirements.txt`, 'torch==2.13.0\ntrl==1.16.0\n');
      await put(dir, `${files}/wandb-summary.json`, '{"loss": 1}');
    },
    exit: 2,
    says: [/^run +TRL 1\.16\.0: \S+config\.yaml/m, /^beside +W&B/m, /log_completions=True/],
  },
  {
    name: 'episodes of rLLM',
    make: (dir) => {
      const trajectories = [{ name: 'solver', uid: 'u', reward: 1, steps: [] }];
      const episode = { training_step: 1, episode_id: 'a:0', session_id: null, task: '', trajectories };
      return put(dir, 'train_step_1/episode.json', JSON.stringify(episode));
    },
    exit: 3,
    says: [/^run +rLLM/m, /capture\.batch\(step, /],
  },
  {
    name: 'rollouts of ROLL',
    make: (dir) =>
      put(
        dir,
        'rollout_dump_data.step_1.jsonl',
        jsonLines([{ id: ['a', 'a'], prompt: ['a', 'a'], responses: ['', ''], scores: [1, 0] }]),
      ),
    exit: 3,
    says: [/^run +ROLL/m, /capture\.batch\(step, /],
  },
  {
    name: 'summaries of tinker-cookbook',
    make: (dir) =>
      put(
        dir,
        'iteration_000001/train_rollout_summaries.jsonl',
        jsonLines(
          [0, 1].map((at) => ({ iteration: 1, group_idx: 0, traj_idx: at, total_reward: at, steps: [] })),
        ),
      ),
    exit: 3,
    says: [/^run +tinker-cookbook/m],
  },
  {
    name: 'rollouts of AReaL',
    make: (dir) =>
      put(
        dir,
        'rollout/1/7.jsonl',
        jsonLines([0, 1].map((at) => ({ task_id: 7, sample_idx: at, head_version: 1, reward: at }))),
      ),
    exit: 3,
    says: [/^run +AReaL/m],
  },
  {
    name: 'trajectories of ART',
    make: copied(`${DUMPS}/art`),
    exit: 3,
    says: [/^run +ART/m, /capture\.batch/],
  },
  {
    name: 'tensors of SkyRL',
    make: copied(`${DUMPS}/skyrl`),
    exit: 3,
    says: [/^run +SkyRL/m, /SkyRL drops rewards and groups/],
  },
  { name: 'a table', make: written('table'), exit: 3, says: [/table \(CSV/], never: /^(?:run {2}|Next)/m },
  {
    name: 'batches of the capture hook',
    make: (dir) => cp('test/golden/hgpo.json', join(dir.path, 'step-000001.json')),
    exit: 0,
    says: [/45 of 45 batches ok/],
    never: /^(?:run {2}|Next)/m,
  },
  {
    name: 'an empty folder',
    make: async () => undefined,
    exit: 2,
    says: [
      /no file that can be a batch/,
      /Looked at 0 entries/,
      /TRL +completions\/\*\.parquet \(log_completions=True\)/,
    ],
  },
  {
    name: 'files of another kind',
    make: (dir) => put(dir, 'package.json', '{}'),
    exit: 2,
    says: [/1 file in no known format skipped/, /Looked at 1 entry for the dumps of\n +TRL/],
  },
  {
    name: 'virtual environments, programs and hidden folders',
    make: async (dir) => {
      for (const place of ['venv', 'node_modules', '.cache'])
        await put(dir, `${place}/a.jsonl`, '{"group": 1, "reward": 1}');
      await put(dir, 'venv/pyvenv.cfg', '');
    },
    exit: 2,
    says: [/no file that can be a batch/],
  },
];

/** Exit status and output, errors included. */
async function verified(path: string): Promise<{ exit: number; text: string }> {
  let text = '';
  const write = (part: string): void => {
    text += part;
  };
  const stream = { columns: undefined, write };
  const io = { stdout: stream, stderr: stream };
  const exit = await orUnreadable(io, () => verifyFiles([path], {}, io));
  return { exit, text };
}

for (const { name, make, exit: expected, says, never } of CASES) {
  test(`a folder with ${name} ends with ${expected} and names the next lines`, async () => {
    await using dir = await folder();
    await make(dir);
    const { exit, text } = await verified(dir.path);
    assert.equal(exit, expected, text);
    for (const pattern of says) assert.match(text, pattern);
    if (never !== undefined) assert.doesNotMatch(text, never);
  });
}

test('many files of one shape in no known format are not opened, and the dumps beside them are', async () => {
  await using dir = await folder();
  for (let at = 0; at < 300; at++) await dir.write(`sample_${at}.json`, '{}');
  await cp(`${DUMPS}/trl/group`, join(dir.path, 'z'), { recursive: true });
  const { exit, text } = await verified(dir.path);
  assert.equal(exit, 0, text);
  assert.match(text, /^not read +200 files/m);
  assert.match(text, /3 of 3 batches ok/);
});

/** Runs a program without the right of root to read everything. */
const unprivileged = (command: string[]): string[] =>
  process.getuid?.() === 0
    ? [
        'setpriv',
        '--bounding-set=-dac_override,-dac_read_search',
        '--inh-caps=-dac_override,-dac_read_search',
        ...command,
      ]
    : command;

test('a folder that cannot be listed, and one within a folder, are named', async () => {
  await using dir = await folder();
  await cp(`${DUMPS}/trl/group`, join(dir.path, 'run'), { recursive: true });
  const closed = join(dir.path, 'run/closed');
  await mkdir(closed, { mode: 0 });
  const [file, ...args] = unprivileged([process.execPath, PROGRAM]);
  const { stdout } = await run(file!, [...args, join(dir.path, 'run')]);
  assert.match(stdout, /^not read +1 folder that cannot be listed: \S+closed \(EACCES\)$/m);
  assert.match(stdout, /3 of 3 batches ok/);
  await assert.rejects(run(file!, [...args, closed]), (error: { code: number; stderr: string }) => {
    assert.equal(error.code, 2);
    assert.match(error.stderr, /^Cannot list \S+closed: permission denied\.$/m);
    return true;
  });
});

test('without arguments the program verifies the folder in which it runs', async () => {
  const { stdout } = await run(process.execPath, [PROGRAM], { cwd: `${DUMPS}/trl/group` });
  assert.match(stdout, /^run +TRL: training_args\.bin$/m);
  assert.match(stdout, /3 of 3 batches ok/);
});

test('JSON has the trainers and the next lines', async () => {
  const { stdout } = await run(process.execPath, [PROGRAM, '--json'], { cwd: `${DUMPS}/trl/group` });
  const { trainers, next } = JSON.parse(stdout) as { trainers: unknown[]; next: { copy: string[] }[] };
  const place = resolve(DUMPS, 'trl/group');
  assert.deepEqual(trainers, [{ name: 'trl', version: null, file: 'training_args.bin', run: place }]);
  assert.equal(next[0]!.copy[1], 'follow_steps(trainer)');
});
