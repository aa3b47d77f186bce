/**
 * How fast dumps of other trainers are read and verified: rows and megabytes per second of each format, and memory. Each file is
 * made here and removed again; `--rows N` sets its rows.
 */

import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StatedDump } from 'echelon-verify/verify';
import { adapterOf } from '../../packages/echelon-verify/src/dumps/registry.ts';
import { verifyDump } from '../../packages/echelon-verify/src/verify/verify-dump.ts';
import { type Folder, folder as newFolder } from '../../packages/echelon-verify/test/support/dump-files.ts';
import {
  WRITERS,
  type WrittenRow,
  type WrittenStep,
} from '../../packages/echelon-verify/test/support/dump-writers.ts';
import { cpuClock, show } from './harness.ts';

const GROUP = 8;
const TOKENS = Array.from({ length: 2_000 }, (_, i) => 1_000 + ((i * 7_919) % 30_000));
const TEXT = 'a response of some length, as models give it; '.repeat(60);

/** A group's rewards and what GRPO with ε = 1e-4 makes of them. */
const REWARDS = [1, 0, 0, 1, 0, 0, 0, 0];
const ADVANTAGES = REWARDS.map((r) =>
  Math.fround(Math.fround(r - 0.25) / Math.fround(Math.sqrt(1.5 / 7) + 1e-4)),
);

interface Format {
  readonly name: string;
  readonly file: string;
  readonly stated: StatedDump;
  /** The lines of a group of eight rows. */
  readonly lines: (group: number) => string;
}

const FORMATS: readonly Format[] = [
  {
    name: 'table',
    file: 'run.csv',
    stated: { estimator: 'grpo', params: { epsilon: 1e-4 } },
    lines: (g) =>
      `${g === 0 ? 'step,group,reward,advantage\n' : ''}${REWARDS.map((r, i) => `${Math.floor(g / 64)},${g},${r},${ADVANTAGES[i]}`).join('\n')}\n`,
  },
  {
    name: 'verl',
    file: '1.jsonl',
    stated: {},
    lines: (g) =>
      `${REWARDS.map((score, i) => JSON.stringify({ input: `prompt ${g}`, output: TEXT, gts: null, score, step: Math.floor(g / 64), uid: `${g}_${i}_0` })).join('\n')}\n`,
  },
  {
    name: 'nemo-rl',
    file: 'train_data_step1.jsonl',
    stated: { estimator: 'grpo', params: { baseline: 'group', epsilon: 1e-4 } },
    lines: (g) =>
      `${REWARDS.map((r, i) => JSON.stringify({ content: [TEXT], rewards: [r], token_ids: [[g, ...TOKENS]], token_loss_mask: [[0, ...TOKENS.map(() => 1)]], advantages: [[0, ...TOKENS.map(() => ADVANTAGES[i])]], prev_logprobs: [[0, ...TOKENS.map((t) => -t / 3e4)]], idx: g * GROUP + i })).join('\n')}\n`,
  },
  {
    name: 'ms-swift',
    file: 'completions.jsonl',
    stated: { estimator: 'grpo' },
    lines: (g) =>
      `${JSON.stringify({ step: REWARDS.map(() => String(g)), prompt: REWARDS.map(() => `prompt ${g}`), completion: REWARDS.map(() => TEXT), accuracy: REWARDS, advantages: ADVANTAGES })}\n`,
  },
];

/** Rows of one training step. */
const STEP_ROWS = 512;
const DIVIDED = { estimator: 'grpo', params: { normalizeByStd: true, epsilon: 1e-4 } } as const;
const STATED: Readonly<Record<string, StatedDump>> = { slime: DIVIDED, 'prime-rl': DIVIDED };

/** Writes a file for each training step (rLLM: for each episode), in step order. */
const STEPWISE: Readonly<Record<string, (dir: Folder, rows: number) => Promise<string[]>>> = {
  slime: async (dir, rows) => (await WRITERS.slime!(dir, steps(rows))).toSorted(),
  'prime-rl': async (dir, rows) => await WRITERS['prime-rl']!(dir, steps(rows)),
  async roll(dir, rows) {
    return await Promise.all(
      steps(rows).map((own, step) => {
        const prompt = own.map(({ group }) => `prompt ${group}`);
        const scores = own.map(({ reward }) => reward);
        const line = { global_step: step, prompt, responses: own.map(() => TEXT), scores };
        return dir.write(`rollout_dump_data.step_${step}.jsonl`, `${JSON.stringify(line)}\n`);
      }),
    );
  },
  async rllm(dir, rows) {
    const episode = ({ group, reward }: WrittenRow, at: number) => ({
      training_step: 1,
      session_id: 's',
      episode_id: `${group}:${at}`,
      trajectories: [{ name: 'solver', reward, steps: [{ observation: TEXT, action: TEXT, reward }] }],
    });
    const files: string[] = [];
    for (const [at, row] of steps(rows).flat().entries())
      files.push(await dir.write(`${at}.json`, JSON.stringify(episode(row, at))));
    return files;
  },
};

function steps(rows: number): WrittenStep[] {
  return Array.from({ length: Math.ceil(rows / STEP_ROWS) }, () =>
    Array.from({ length: STEP_ROWS }, (_, row) => ({
      group: Math.floor(row / GROUP),
      reward: REWARDS[row % GROUP]!,
      advantage: ADVANTAGES[row % GROUP]!,
    })),
  );
}

/** Prints one line a format, or JSON. */
export async function runDumps({ rows, json }: { rows: number; json: boolean }): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'echelon-bench-'));
  const results: object[] = [];
  try {
    for (const { name, file, stated, lines } of FORMATS) {
      const path = join(folder, file);
      await write(path, rows / GROUP, lines);
      results.push(await measure(name, [path], stated));
    }
    results.push(await measure('trl', await trlFiles(folder, 400), {}));
    for (const [name, writeSteps] of Object.entries(STEPWISE)) {
      await using dir = await newFolder();
      results.push(await measure(name, await writeSteps(dir, rows), STATED[name] ?? {}));
    }
  } finally {
    await rm(folder, { recursive: true });
  }
  show(results, json, () => console.table(results));
}

async function write(path: string, groups: number, lines: (group: number) => string): Promise<void> {
  const file = createWriteStream(path);
  for (let g = 0; g < groups; g++) if (!file.write(lines(g))) await once(file, 'drain');
  await new Promise((resolve) => file.end(resolve));
}

/** The golden file of 16 rows under many names: the cost of opening files counts. */
async function trlFiles(folder: string, files: number): Promise<string[]> {
  await mkdir(join(folder, 'completions'));
  await cp('test/golden/dumps/trl/group/training_args.bin', join(folder, 'training_args.bin'));
  const paths = Array.from({ length: files }, (_, i) => join(folder, `completions/completions_${i}.parquet`));
  for (const path of paths)
    await cp('test/golden/dumps/trl/group/completions/completions_00001.parquet', path);
  return paths;
}

async function measure(format: string, files: readonly string[], stated: StatedDump): Promise<object> {
  let bytes = 0;
  for (const file of files) bytes += (await stat(file)).size;
  const cpu = cpuClock();
  const [begun, before] = [performance.now(), process.memoryUsage().rss];
  let [rows, wrong, most] = [0, 0, 0];
  for await (const report of verifyDump(adapterOf(format), files, stated)) {
    rows += report.rows;
    wrong += report.wrong;
    most = Math.max(most, process.memoryUsage().rss);
  }
  const seconds = cpu() / 1e6;
  return {
    format,
    megabytes: Math.round(bytes / 1e6),
    rows,
    wrong,
    'rows/s': Math.round(rows / seconds),
    'MB/s': Math.round(bytes / 1e6 / seconds),
    'wall s': Number(((performance.now() - begun) / 1000).toFixed(2)),
    'memory, MB more': Math.max(0, Math.round((most - before) / 1e6)),
  };
}
