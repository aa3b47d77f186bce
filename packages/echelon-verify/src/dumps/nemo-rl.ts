/**
 * NeMo-RL: `train_data_step{N}.jsonl`, one response a line, each value a list of one. A group is the responses to one prompt,
 * which is the tokens before the first that is trained. A response without a trained token is of the prompt that it begins with.
 * Advantages stand at each token.
 */

import { createHash } from 'node:crypto';
import { basename, dirname } from 'node:path';
import { counted } from 'command-kit/plural';
import { finding, some } from '../report/findings.ts';
import type { Finding } from '../report/report.ts';
import type { DumpAdapter, DumpOptions, DumpStep, FoundConfiguration } from './adapter.ts';
import { advantagesOf, type CellPlace, numberIn, rewardsOf } from './cells.ts';
import { findConfigYaml, type Settings, settingsOf } from './config-yaml.ts';
import { estimatorOfSettings, formsOf, namesOf, perToken } from './dump-batch.ts';
import { pickedLines } from './records.ts';
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

type Tokens = readonly (number | undefined)[];

interface Row {
  /** The key of its prompt; or all tokens, if none is trained. */
  readonly prompt: string | Tokens;
  readonly reward: number | undefined;
  readonly advantage: number | undefined;
  /** False if the tokens of the response have different advantages. */
  readonly isConstant: boolean;
  readonly index: number;
  /** Tokens that are trained. */
  readonly length: number;
  /** False if the whole response is masked. */
  readonly isTrained: boolean;
  /** True if the row has a filtered reward that is not its reward. */
  readonly isFiltered: boolean;
}

async function readStep(source: DumpSource, { groupSize }: DumpOptions): Promise<DumpStep> {
  const all: Row[] = [];
  const prompts = new Map<string, Tokens>();
  for await (const line of pickedLines(source, SELECTION))
    all.push(rowOf(line as Record<string, unknown>, prompts, { file: source.path, number: all.length + 1 }));
  const keys = promptKeys(all, prompts);
  // Whether a masked response counts in the baseline and in means over tokens depends on the version.
  const masked = new Set(keys.filter((key, row) => !all[row]!.isTrained || key === NO_PROMPT));
  const kept = [...all.keys()].filter((row) => !masked.has(keys[row]!));
  const rows = kept.map((row) => all[row]!);
  const number = /(\d+)\.jsonl$/.exec(source.path)?.[1];
  const varying = [...rows.keys()].filter((row) => !rows[row]!.isConstant);
  return {
    name: number === undefined ? basename(source.path) : `step ${number}`,
    file: source.path,
    ...(number === undefined ? {} : { trainingStep: Number(number) }),
    group: namesOf(kept.map((row) => keys[row]!)),
    ...rewardsOf(rows.map(({ reward }) => reward)),
    ...(varying.length > 0 ? {} : advantagesOf(rows.map(({ advantage }) => advantage))),
    ...(masked.size === 0
      ? { responseLength: Int32Array.from(rows, ({ length }) => length) }
      : { rowsInDump: all.length }),
    ...(groupSize === undefined ? {} : { groupSize }),
    findings: [
      ...perToken(varying),
      ...untrained(masked.size),
      ...missing(all),
      ...filtered(all),
      ...failed(all),
    ],
  };
}

/** The group of rows whose prompt is not known. */
const NO_PROMPT = 'no prompt';

/** A text that is equal for equal prompts; the prompt is added to the known ones. */
function promptKey(prompt: Tokens, prompts: Map<string, Tokens>): string {
  const key = createHash('sha1').update(prompt.join()).digest('hex').slice(0, 12);
  if (!prompts.has(key)) prompts.set(key, prompt);
  return key;
}

/** The group of each row. A row without a trained token begins with its prompt, if another response to it has one. */
function promptKeys(rows: readonly Row[], prompts: ReadonlyMap<string, Tokens>): string[] {
  const longest = [...prompts].sort(([, a], [, b]) => b.length - a.length);
  return rows.map(({ prompt: own }) => {
    if (typeof own === 'string') return own;
    const known = longest.find(([, prompt]) => prompt.every((token, at) => token === own[at]));
    return known?.[0] ?? NO_PROMPT;
  });
}

function rowOf(
  line: Record<string, unknown>,
  prompts: Map<string, Tokens>,
  { file, number }: { file: string; number: number },
): Row {
  const numbers = (key: string) => numbersOf(line[key], { file, field: `line ${number}, ${key}` });
  const tokens = numbers('token_ids');
  const mask = numbers('token_loss_mask');
  const start = mask.indexOf(1);
  const advantages = numbers('advantages');
  const trained = advantages.length === mask.length ? advantages.filter((_, i) => mask[i] === 1) : advantages;
  // Without a trained token the advantage is that of all tokens, if they have one.
  const own =
    trained.length > 0 || !advantages.every((one) => Object.is(one, advantages[0])) ? trained : advantages;
  const [advantage] = own;
  const [plain] = numbers('rewards');
  const [reward = plain] = numbers('filtered_rewards');
  return {
    prompt: start === -1 ? tokens : promptKey(tokens.slice(0, start), prompts),
    reward,
    advantage,
    isConstant: trained.every((own) => Object.is(own, advantage)),
    index: numberIn(line.idx, { file, field: `line ${number}, idx` }) ?? Number.NaN,
    length: mask.filter((m) => m === 1).length,
    isTrained: numbers('sample_loss_mask').every((m) => m === 1),
    isFiltered: plain !== undefined && !Object.is(plain, reward),
  };
}

/** The numbers of a value that may stand in lists of one. */
function numbersOf(value: unknown, place: CellPlace): (number | undefined)[] {
  if (!Array.isArray(value)) return value === undefined || value === null ? [] : [numberIn(value, place)];
  return value.length === 1 && Array.isArray(value[0])
    ? numbersOf(value[0], place)
    : value.map((one) => numberIn(one, place));
}

function untrained(groups: number): Finding[] {
  const text = `${counted(groups, 'group')} with a masked response.`;
  return groups === 0 ? [] : [finding('groups-untrained', text)];
}

function filtered(rows: readonly Row[]): Finding[] {
  const off = [...rows.keys()].filter((row) => rows[row]!.isFiltered);
  if (off.length === 0) return [];
  const text = `${counted(off.length, 'row')} of ${rows.length} (row ${some(off, 3)}).`;
  return [finding('rewards-filtered', text, off)];
}

/** Share of responses without a trained token and with the reward 0 that is no accident. */
const MANY_FAILED = 0.1;

/** A rollout that failed at the reset of its environment has no response, and its reward counts as 0. */
function failed(rows: readonly Row[]): Finding[] {
  const off = [...rows.keys()].filter((row) => rows[row]!.length === 0 && rows[row]!.reward === 0);
  if (off.length < 2 || off.length < MANY_FAILED * rows.length) return [];
  const text = `${counted(off.length, 'row')} of ${rows.length} (row ${some(off, 3)}).`;
  return [finding('rollouts-failed', text, off)];
}

/** `idx` numbers the lines from 0. */
function missing(rows: readonly Row[]): Finding[] {
  const off = rows.findIndex(({ index }, row) => !Number.isNaN(index) && index !== row);
  if (off === -1) return [];
  return [finding('rows-lost', `Line ${off + 1} has the index ${rows[off]!.index}.`)];
}
