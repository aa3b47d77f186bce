import { readFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { encodeBatch } from '../../src/format/batch-wire.ts';
import { isGzip } from '../../src/format/inflate.ts';
import type { StatedDump } from '../../src/verify/verify-dump.ts';
import { DUMPS, jsonLines } from './dump-files.ts';
import { goldenBatch } from './golden-batches.ts';

/** A small file of a format, which is damaged in many ways. */
export interface Seed {
  /** The name of the file: some formats need it. */
  readonly file: string;
  readonly bytes: Buffer;
  /** The adapter that reads it; undefined: the project's own formats, which the content decides. */
  readonly from?: string;
  readonly stated?: StatedDump;
}

const GOLDEN = 'test/golden';
const read = (path: string, more: Partial<Seed> = {}): Seed => ({
  file: path.slice(path.lastIndexOf('/') + 1),
  bytes: readFileSync(path),
  ...more,
});
const lines = (file: string, rows: readonly unknown[]): Seed => ({
  file,
  bytes: Buffer.from(jsonLines(rows)),
});
/** The first batch of a file with many. */
function oneBatch(path: string): Seed {
  const { batches, ...head } = JSON.parse(readFileSync(path, 'utf8')) as { batches: unknown[] };
  return { file: 'a.json', bytes: Buffer.from(JSON.stringify({ ...head, batches: batches.slice(0, 1) })) };
}
const four = <T>(row: (at: number) => T): T[] => [0, 1, 2, 3].map(row);

const EPISODE = {
  ...{
    training_step: 1,
    epoch: 0,
    episode_id: 'a:0',
    session_id: null,
    task: { text: 'y' },
    task_hash: 'ab',
  },
  ...{
    is_correct: true,
    trajectories: [{ name: 'solver', uid: 'a:0', reward: 1, steps: [{ action: 'x', reward: 0 }] }],
  },
};

/** By the adapter's name: a file of each format that a trainer writes. */
const TRAINERS: Readonly<Record<string, Seed>> = {
  trl: read(`${DUMPS}/trl/weights/completions/completions_00001.parquet`),
  'ms-swift': read(`${DUMPS}/ms-swift-settings/grpo-group/completions.jsonl`),
  'nemo-rl': read(`${DUMPS}/nemo-rl-settings/grpo-centred-all/train_data_step1.jsonl`),
  slime: read(`${DUMPS}/slime/train_data/0_0.pt`),
  'prime-rl': read(`${GOLDEN}/cases/prime-rl-3170/right/rollouts/step_3/train/effective/traces.jsonl`),
  verl: lines(
    '1.jsonl',
    four((at) => ({ input: `q ${at >> 1}`, output: 'b', gts: null, score: at % 2, step: 1, uid: `a_${at}` })),
  ),
  roll: lines('rollout_dump_data.step_3.jsonl', [
    {
      id: four((at) => `p${at >> 1}`),
      prompt: four((at) => `p${at >> 1}`),
      responses: four(() => 'text'),
      scores: [1, 0, 0, 1],
      global_step: four(() => 3),
    },
  ]),
  rllm: { file: 'episode_a_0.json', bytes: Buffer.from(JSON.stringify(EPISODE, null, 2)) },
  'tinker-cookbook': lines(
    'rollouts.jsonl',
    four((at) => ({ group_idx: at >> 1, traj_idx: at % 2, total_reward: at % 2, iteration: 1 })),
  ),
  art: lines(
    '0001.jsonl',
    four((at) => ({ group_index: at >> 1, reward: at % 2, messages: 'm' })),
  ),
  areal: lines(
    '0.jsonl',
    four((at) => ({ task_id: 't', sample_idx: at, head_version: 1, reward: at % 2 })),
  ),
  table: {
    file: 'grpo.csv',
    bytes: Buffer.from(readFileSync(`${DUMPS}/verl/grpo.csv`, 'utf8').split('\n').slice(0, 90).join('\n')),
    stated: { map: { group: 'uid', reward: 'score', step: 'step', advantage: 'advantage' } },
  },
  'prime-rl-tokens': read(`${DUMPS}/prime-rl-tokens/right/token_exports/step_3/rank_0.jsonl`),
  'skyrl-steps': read(`${DUMPS}/skyrl/dumped_data/global_step_4_training_input.pkl`),
  'nemo-rl-steps': read(`${DUMPS}/nemo-rl-settings/grpo-divided-all/train_data_step1.jsonl`),
  'slime-steps': read(`${DUMPS}/slime-settings/fewer-groups/train_data/1.pt`),
};

/** The project's own formats. */
const OWN: Readonly<Record<string, Seed>> = {
  'echelon-batch/1, JSON': oneBatch(`${GOLDEN}/gigpo-grpo.json`),
  'echelon-batch/1, protobuf': {
    file: 'a.pb',
    bytes: Buffer.from(encodeBatch(goldenBatch('one-step-episodes'))),
  },
  'echelon-batch/3, JSON': read(`${GOLDEN}/steps/every-column.json`),
  'echelon-batch/3, JSON in gzip': read(`${GOLDEN}/steps/skyrl.json.gz`),
  'echelon-batch/3, protobuf': read(`${GOLDEN}/steps/typescript.pb`),
};

/** A file of every format, by name. */
export const SEEDS: Readonly<Record<string, Seed>> = {
  ...Object.fromEntries(Object.entries(TRAINERS).map(([name, seed]) => [name, { ...seed, from: name }])),
  ...OWN,
};

/** Texts that no number, list or key may become. */
const WORDS = [
  'NaN',
  '1e999',
  '-1',
  'null',
  '[[[',
  '{}',
  '"',
  '99999999999999999999',
  '\u0000',
  '\u202e',
  '__proto__',
];

/** Bytes cut off, flipped, repeated, set to the largest length, or replaced by a word; of gzip also within. */
export function damaged(bytes: Buffer, random: () => number): Buffer {
  if (isGzip(bytes) && random() < 0.8) return gzipSync(damaged(gunzipSync(bytes), random), { level: 1 });
  const at = Math.floor(random() * bytes.length);
  const copy = Buffer.from(bytes);
  switch (Math.floor(random() * 5)) {
    case 0:
      return copy.subarray(0, at);
    case 1:
      for (let i = 0; i < 8; i++) copy[Math.floor(random() * copy.length)] = Math.floor(random() * 256);
      return copy;
    case 2:
      return copy.fill(0xff, at, Math.min(at + 1 + Math.floor(random() * 8), copy.length));
    case 3:
      return Buffer.concat([copy.subarray(0, at), copy.subarray(Math.floor(random() * at))]);
    default: {
      const word = Buffer.from(WORDS[Math.floor(random() * WORDS.length)]!);
      return Buffer.concat([copy.subarray(0, at), word, copy.subarray(at + Math.floor(random() * 4))]);
    }
  }
}
