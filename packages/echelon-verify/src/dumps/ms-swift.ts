/**
 * ms-swift's GRPOTrainer with `log_completions`: `completions.jsonl`, one table of columns a line. Groups are blocks of
 * `num_generations` rows; a reward function that gives nothing counts as 0. The run's settings are in `args.json` beside it.
 */

import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { BatchFormatError } from '../format/format-error.ts';
import type { DumpAdapter, DumpOptions, DumpStep, FoundConfiguration } from './adapter.ts';
import { advantagesOf, columnOf, numbersIn } from './cells.ts';
import { estimatorOfSettings, formsOf } from './dump-batch.ts';
import { evaluationFindings, evaluationPlan } from './evaluation.ts';
import { type Line, linesOf } from './json-lines.ts';
import { keysOfJson } from './pick-json.ts';
import { promptBlocksStep } from './prompt-blocks.ts';
import { pickedLine } from './records.ts';
import { numberOf, promptKey } from './rewards.ts';
import { openSource } from './source.ts';
import { findTrainerState, type TrainerState } from './trainer-state.ts';

/** Before 3.10, `scale_rewards` was a flag. */
const FLAGS: Readonly<Record<string, string>> = { true: 'group', false: 'none' };
/** `scale_rewards` if it is omitted. */
const SCALES: Readonly<Record<string, string>> = { rloo: 'none', reinforce_plus_plus: 'batch' };

/** See the head of this file. */
export const MS_SWIFT: DumpAdapter = {
  name: 'ms-swift',
  title: 'ms-swift completions (JSON lines)',
  matches: ({ keys }) => ['prompt', 'completion', 'advantages'].every((key) => keys?.get(key) === 'array'),
  estimators: formsOf('ms-swift'),
  async *steps(files, options) {
    for (const file of files) {
      await using source = await openSource(file);
      const seen = new Set<number>();
      for await (const line of linesOf(source)) {
        const step = readStep(file, line, options);
        const { trainingStep = Number.NaN } = step;
        // The line of the training comes before that of an evaluation at the same step.
        const isFirst = !seen.has(trainingStep);
        seen.add(trainingStep);
        yield { ...step, ...evaluationFindings(options.evaluation, trainingStep, isFirst) };
      }
    }
  },
  rewardChoices: async (file, { rewards, functions, weights }) => {
    if ([rewards, functions, weights].some((stated) => stated !== undefined)) return [];
    const [names = []] = await namesIn(file);
    return names.map((_, fewer) => names.slice(0, names.length - fewer));
  },
  find: async (file) => {
    const place = join(dirname(file), 'args.json');
    try {
      const settings = JSON.parse(await readFile(place, 'utf8')) as Record<string, unknown>;
      return fromSettings(place, settings, await findTrainerState(file));
    } catch {
      return undefined;
    }
  },
};

function readStep(file: string, line: Line, options: DumpOptions): DumpStep {
  const names =
    options.rewards ?? columnsBetween(line).slice(0, options.functions ?? options.weights?.length);
  const selection = Object.fromEntries(
    ['step', 'gen_step', 'prompt', 'advantages', ...names].map((key) => [key, true as const]),
  );
  const row = pickedLine(file, line, selection) as Record<string, unknown>;
  const advantages = listOf(file, line, row, 'advantages');
  const list = (name: string): unknown[] => {
    const values = listOf(file, line, row, name);
    if (values.length === advantages.length) return values;
    throw fault(file, line, `${advantages.length} values of ${name}`, `${values.length}`);
  };
  const [first] = [row.step ?? row.gen_step].flat();
  const place = { file, rowName: (at: number) => `line ${line.number}, row ${at}` };
  return promptBlocksStep(
    {
      file,
      trainingStep: first === undefined || first === null ? Number.NaN : Number(first),
      prompts: list('prompt').map(promptKey),
      rewards: names.map((name) => ({ name, value: columnOf(numbersIn(list(name), name, place)) })),
      ...advantagesOf(numbersIn(advantages, 'advantages', place)),
    },
    options,
  );
}

/** The reward functions stand between the completions and the advantages, and before what a logger adds there. */
function columnsBetween({ bytes }: Line): string[] {
  const keys = [...keysOfJson(bytes).keys()];
  return keys.slice(keys.indexOf('completion') + 1, keys.indexOf('advantages'));
}

/** The columns of the first line that can be rewards. */
async function namesIn(file: string): Promise<string[][]> {
  await using source = await openSource(file);
  for await (const line of linesOf(source)) return [columnsBetween(line)];
  return [];
}

function listOf(file: string, line: Line, row: Record<string, unknown>, key: string): unknown[] {
  const value = row[key];
  if (Array.isArray(value)) return value;
  throw fault(file, line, `a list ${key}`, value === undefined ? 'nothing' : 'another value');
}

function fault(file: string, { number }: Line, expected: string, found: string): BatchFormatError {
  return new BatchFormatError({ code: 'invalid', file, field: `line ${number}`, expected, found });
}

function fromSettings(
  file: string,
  settings: Record<string, unknown>,
  state: TrainerState | undefined,
): FoundConfiguration {
  const { num_generations: groupSize, reward_weights: weights } = settings;
  const evaluation = evaluationPlan(settings, state, undefined);
  const rowsPerStep = rowsOf(settings);
  return {
    file,
    options: {
      ...(typeof groupSize === 'number' && groupSize > 0 ? { groupSize } : {}),
      ...(Array.isArray(weights) ? { weights: weights.map(numberOf), functions: weights.length } : {}),
      ...functionsOf(settings),
      ...(evaluation === undefined ? {} : { evaluation }),
      ...(rowsPerStep === undefined ? {} : { rowsPerStep }),
    },
    estimator: estimatorOf(settings),
  };
}

/** The reward functions and models that the run states, each of which gives a column. */
function functionsOf({ reward_funcs: names, reward_model: models }: Record<string, unknown>): DumpOptions {
  if (!Array.isArray(names)) return {};
  return { functions: names.length + (Array.isArray(models) ? models.length : 0) };
}

/** Rows of a generation. Undefined if not all of them are written, or if their number varies. */
function rowsOf(settings: Record<string, unknown>): number | undefined {
  const { generation_batch_size: stated, log_entropy: entropy, dynamic_sample: dynamic } = settings;
  const varies = entropy === true || dynamic === true || (settings.multi_turn_scheduler ?? null) !== null;
  return typeof stated === 'number' && stated > 0 && !varies ? stated : undefined;
}

function estimatorOf(settings: Record<string, unknown>): FoundConfiguration['estimator'] {
  const { advantage_estimator: name = 'grpo', kl_in_reward: klInReward, beta } = settings;
  // Without a factor the term is 0.
  const hasKl = klInReward === true && beta !== 0;
  const known = hasKl ? undefined : estimatorOfSettings('ms-swift', settings);
  if (known !== undefined) return known;
  const given = settings.scale_rewards ?? SCALES[String(name)] ?? 'group';
  const scale = FLAGS[String(given)] ?? given;
  const kl = hasKl ? ', kl_in_reward=true' : '';
  return { unsupported: `advantage_estimator=${name}, scale_rewards=${scale}${kl}` };
}
