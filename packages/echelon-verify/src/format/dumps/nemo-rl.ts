/**
 * NeMo-RL: `train_data_step{N}.jsonl`, one response a line, each value a list of one. A group is the responses to one prompt,
 * which is the tokens before the first that is trained. Advantages stand at each token.
 */

import { createHash } from 'node:crypto';
import { basename, dirname } from 'node:path';
import { finding } from '../../provenance/findings.ts';
import type { Finding } from '../../report.ts';
import { counted } from '../../text/plural.ts';
import type { DumpAdapter, DumpOptions, DumpStep, FoundConfiguration } from './adapter.ts';
import { findConfigYaml, type Settings, settingsOf } from './config-yaml.ts';
import { estimatorOfSettings, formsOf, namesOf, perToken } from './dump-batch.ts';
import { pickedLines } from './records.ts';
import { numberOf } from './rewards.ts';
import { type DumpSource, withSource } from './source.ts';

const SELECTION = {
  rewards: true,
  filtered_rewards: true,
  token_ids: true,
  token_loss_mask: true,
  sample_loss_mask: true,
  advantages: true,
  idx: true,
} as const;

/** See the head of this file. */
export const NEMO_RL: DumpAdapter = {
  name: 'nemo-rl',
  title: 'NeMo-RL train data (JSON lines)',
  matches: ({ keys }) => ['rewards', 'advantages', 'token_loss_mask'].every((key) => keys?.has(key)),
  estimators: formsOf('nemo-rl'),
  async *steps(files, options) {
    for (const file of files) yield await withSource(file, (source) => readStep(source, options));
  },
  find: async (file, once = (_key, read) => read()) =>
    await once(dirname(file), async () => {
      const found = await findConfigYaml(file, 'grpo');
      const estimator = found && estimatorOf(found.settings);
      return (
        estimator && { file: found.file, options: optionsOf(settingsOf(found.settings.grpo)), estimator }
      );
    }),
};

/** Undefined if the file does not state it: another file, from which it inherits, may. */
function estimatorOf({ grpo, loss_fn: loss }: Settings): FoundConfiguration['estimator'] | undefined {
  const own = settingsOf(grpo) ?? {};
  // Before there was a section adv_estimator, grpo was the only estimator.
  const section = settingsOf(own.adv_estimator) ?? { ...own, name: 'grpo' };
  const deciding =
    section.name === 'reinforce_plus_plus'
      ? ['name', 'minus_baseline']
      : ['name', 'normalize_rewards', 'use_leave_one_out_baseline'];
  const isKnown = ['grpo', 'gdpo', 'reinforce_plus_plus'].includes(String(section.name));
  const keys = isKnown ? deciding : ['name'];
  if (keys.some((key) => section[key] === undefined)) return undefined;
  const stated = keys.map((key) => `${key}=${String(section[key])}`).join(', ');
  const changes = [
    ...changesOf(own, section, keys.slice(1)),
    ...(settingsOf(loss)?.use_kl_in_reward ? ['use_kl_in_reward'] : []),
  ];
  const known = changes.length === 0 ? estimatorOfSettings('nemo-rl', section) : undefined;
  if (known !== undefined) return known;
  return { unsupported: [`adv_estimator with ${stated}`, ...changes].join(', ') };
}

/** With dynamic sampling, a step is filled from several rollouts. */
function optionsOf(grpo: Settings = {}): DumpOptions {
  const {
    num_prompts_per_step: prompts,
    num_generations_per_prompt: size,
    use_dynamic_sampling: dynamic,
  } = grpo;
  if (typeof prompts !== 'number' || typeof size !== 'number' || dynamic === true) return {};
  return { rowsPerStep: prompts * size };
}

/** Settings that change advantages after the estimator, such as bounds to clip them. */
const CHANGES = [
  'advantage_clip_low',
  'advantage_clip_high',
  'invalid_tool_call_advantage',
  'malformed_thinking_advantage',
];

/** The settings outside the section that change its arithmetic, or contradict it: which one counts depends on the version. */
function changesOf(grpo: Settings, section: Settings, keys: readonly string[]): string[] {
  const other = keys.filter((key) => grpo[key] !== undefined && grpo[key] !== section[key]);
  const set = CHANGES.filter((key) => (grpo[key] ?? null) !== null);
  return [...other, ...set].map((key) => `grpo.${key}=${JSON.stringify(grpo[key])}`);
}

interface Row {
  readonly prompt: string;
  readonly reward: number;
  readonly advantage: number;
  /** False if the tokens of the response have different advantages. */
  readonly isConstant: boolean;
  readonly index: number;
  /** Tokens that are trained. */
  readonly length: number;
  /** False if the whole response is masked. */
  readonly isTrained: boolean;
}

async function readStep(source: DumpSource, { groupSize }: DumpOptions): Promise<DumpStep> {
  const all: Row[] = [];
  for await (const line of pickedLines(source, SELECTION)) all.push(rowOf(line as Record<string, unknown>));
  // Whether a masked response counts in the baseline and in means over tokens depends on the version.
  const masked = new Set(all.filter(({ isTrained }) => !isTrained).map(({ prompt }) => prompt));
  const rows = all.filter(({ prompt }) => !masked.has(prompt));
  const number = /(\d+)\.jsonl$/.exec(source.path)?.[1];
  const varying = [...rows.keys()].filter((row) => !rows[row]!.isConstant);
  return {
    name: number === undefined ? basename(source.path) : `step ${number}`,
    file: source.path,
    ...(number === undefined ? {} : { trainingStep: Number(number) }),
    group: namesOf(rows.map(({ prompt }) => prompt)),
    reward: Float64Array.from(rows, ({ reward }) => reward),
    ...(varying.length > 0 ? {} : { advantage: Float64Array.from(rows, ({ advantage }) => advantage) }),
    ...(masked.size === 0
      ? { responseLength: Int32Array.from(rows, ({ length }) => length) }
      : { rowsInDump: all.length }),
    ...(groupSize === undefined ? {} : { groupSize }),
    findings: [...perToken(varying), ...untrained(masked.size), ...missing(all)],
  };
}

function rowOf(line: Record<string, unknown>): Row {
  const tokens = numbersOf(line.token_ids);
  const mask = numbersOf(line.token_loss_mask);
  const start = mask.indexOf(1);
  const advantages = numbersOf(line.advantages);
  const trained = advantages.length === mask.length ? advantages.filter((_, i) => mask[i] === 1) : advantages;
  const [advantage = advantages[0] ?? Number.NaN] = trained;
  const [reward = Number.NaN] = numbersOf(line.filtered_rewards ?? line.rewards);
  return {
    prompt: createHash('sha1')
      .update(tokens.slice(0, start === -1 ? tokens.length : start).join())
      .digest('hex')
      .slice(0, 12),
    reward,
    advantage,
    isConstant: trained.every((own) => Object.is(own, advantage)),
    index: numberOf(line.idx),
    length: mask.filter((m) => m === 1).length,
    isTrained: numbersOf(line.sample_loss_mask).every((m) => m === 1),
  };
}

/** The numbers of a value that may stand in lists of one. */
function numbersOf(value: unknown): number[] {
  if (!Array.isArray(value)) return value === undefined || value === null ? [] : [numberOf(value)];
  return value.length === 1 && Array.isArray(value[0]) ? numbersOf(value[0]) : value.map(numberOf);
}

function untrained(groups: number): Finding[] {
  const text = `${counted(groups, 'group')} with a masked response.`;
  return groups === 0 ? [] : [finding('groups-untrained', text)];
}

/** `idx` numbers the lines from 0. */
function missing(rows: readonly Row[]): Finding[] {
  const off = rows.findIndex(({ index }, row) => !Number.isNaN(index) && index !== row);
  if (off === -1) return [];
  return [finding('rows-lost', `Line ${off + 1} has the index ${rows[off]!.index}.`)];
}
