/**
 * slime (and its fork miles) with `--dump-details DIR`: torch files of rollouts (`samples` with `group_index` and `reward`) and of
 * training (`samples` with `advantages` at each token, `raw_reward`). Files of one rollout are one step. The trainer computes over
 * blocks of `n_samples_per_prompt` rows.
 */

import { basename, dirname } from 'node:path';
import { PyDict } from 'ray-client-ts/pickle/values';
import { finding } from '../../provenance/findings.ts';
import type { Finding } from '../../report.ts';
import { counted } from '../../text/plural.ts';
import { BatchFormatError } from '../format-error.ts';
import type { DumpAdapter, DumpOptions, DumpStep, Names } from './adapter.ts';
import { blocksOf } from './blocks.ts';
import { formsOf, namesOf, perToken } from './dump-batch.ts';
import { foldersOfRun } from './run-folders.ts';
import { findSlimeConfig } from './slime-config.ts';
import { type SampleTokens, sampleTokens, tokenColumns } from './slime-tokens.ts';
import { withSource } from './source.ts';
import { numbersIn, TensorError } from './torch-tensor.ts';
import { openTorchFile, type TorchFile } from './torch-zip.ts';

/** See the head of this file. */
export const SLIME: DumpAdapter = {
  name: 'slime',
  title: 'slime dumps (torch; also miles)',
  matches: ({ isZip, path }) => isZip && /\.pt$/i.test(path),
  estimators: formsOf('slime'),
  runOf,
  find: async (file, once = (_key, read) => read()) => {
    const run = runOf(file);
    return await once(run, () => findSlimeConfig(foldersOfRun(entryOf(file))));
  },
  async *steps(files, options) {
    const rollouts = new Map<number, Part[]>();
    for (const file of files) {
      const part = await readPart(file);
      if (EVALUATION.test(basename(file))) {
        const text = `The file holds the evaluation of rollout ${part.rollout}.`;
        yield { ...stepOf(part.rollout, [part], {}), unjudged: finding('evaluation-rows', text) };
        continue;
      }
      rollouts.set(part.rollout, [...(rollouts.get(part.rollout) ?? []), part]);
    }
    for (const [rollout, parts] of [...rollouts].sort(([a], [b]) => a - b))
      yield stepOf(rollout, parts, options);
  },
};

const EVALUATION = /^eval_/;
/** Folders of one run. */
const FOLDERS = ['rollout_data', 'train_data'];

function runOf(file: string): string {
  return dirname(entryOf(file));
}

/** The file, or its folder in that of the run. */
function entryOf(file: string): string {
  return FOLDERS.includes(basename(dirname(file))) ? dirname(file) : file;
}

/** One row by its position in the rollout. */
interface Row {
  readonly position: number;
  /** The number of the sample in the run. */
  readonly index?: number;
  readonly group?: string;
  readonly reward?: number;
  readonly advantage?: number;
  readonly isConstant: boolean;
  /** Tokens that are trained. */
  readonly length?: number;
  readonly tokens?: SampleTokens;
}

/** What one file holds. */
interface Part {
  readonly file: string;
  readonly rollout: number;
  readonly rows: readonly Row[];
}

async function readPart(file: string): Promise<Part> {
  return await withSource(file, async (source) => {
    const torch = await openTorchFile(source);
    const { value } = torch;
    const samples = value instanceof PyDict ? value.get('samples') : undefined;
    if (!(value instanceof PyDict) || !Array.isArray(samples)) throw fault(file, 'a dictionary with samples');
    try {
      const raw = await optionalNumbers(torch, value.get('raw_reward'));
      const rows: Row[] = [];
      for (const sample of samples) rows.push(await readRow(torch, sample, rows.length, raw));
      const [rollout = numberIn(file)] = await optionalNumbers(torch, value.get('rollout_id'));
      return { file, rollout, rows };
    } catch (error) {
      if (error instanceof TensorError) throw fault(file, 'samples of slime', error.message);
      throw error;
    }
  });
}

async function readRow(
  torch: TorchFile,
  sample: unknown,
  index: number,
  raw: readonly number[],
): Promise<Row> {
  if (!(sample instanceof PyDict)) throw new TensorError('a sample that is no dictionary');
  const one = async (...keys: string[]): Promise<number | undefined> => {
    const key = keys.find((name) => (sample.get(name) ?? null) !== null);
    return key === undefined ? undefined : (await numbersIn(torch, sample.get(key)))[0];
  };
  const position = (await one('rollout_position')) ?? index;
  const number = await one('index', 'sample_index');
  const advantages = await optionalNumbers(torch, sample.get('advantages'));
  const mask = await optionalNumbers(torch, sample.get('loss_masks'));
  const trained = mask.length === advantages.length ? advantages.filter((_, i) => mask[i] !== 0) : advantages;
  const [advantage = advantages[0]] = trained;
  const group = await one('group_index');
  const reward = raw[position] ?? (await one('reward'));
  return {
    position,
    ...(number === undefined ? {} : { index: number }),
    ...(group === undefined ? {} : { group: `group ${group}` }),
    ...(reward === undefined ? {} : { reward }),
    ...(advantage === undefined ? {} : { advantage }),
    isConstant: trained.every((own) => Object.is(own, advantage)),
    ...(mask.length === 0 ? {} : { length: mask.filter((m) => m !== 0).length }),
    ...(mask.length === 0 || mask.length !== advantages.length
      ? {}
      : {
          tokens: sampleTokens({
            mask,
            advantages,
            values: await optionalNumbers(torch, sample.get('values')),
            kl: await optionalNumbers(torch, sample.get('kl')),
            reward: await one('rewards'),
          }),
        }),
  };
}

async function optionalNumbers(torch: TorchFile, value: unknown): Promise<number[]> {
  return value === undefined || value === null ? [] : await numbersIn(torch, value);
}

/** The files' rows by position: groups of the rollout dump, advantages of the training dump. */
function stepOf(rollout: number, parts: readonly Part[], options: DumpOptions): DumpStep {
  const { groupSize, blockRows } = options;
  const rows = new Map<number, Row>();
  for (const row of parts.flatMap((part) => part.rows)) {
    const position = positionOf(row, rows);
    rows.set(position, { ...rows.get(position), ...row, position });
  }
  const sorted = [...rows.values()].sort((a, b) => a.position - b.position);
  const grouped = sorted.every(({ group }) => group !== undefined);
  const blocks = grouped
    ? undefined
    : blocksOf(
        sorted.map(() => ''),
        groupSize,
      );
  const own = blocks?.group ?? namesOf(sorted.map((row) => row.group!));
  const isWhole =
    sorted.length > 0 && (blockRows === undefined ? isUneven(own) : sorted.length !== blockRows);
  const group = isWhole ? namesOf(sorted.map(() => 'rollout')) : own;
  const varying = [...sorted.keys()].filter((row) => !sorted[row]!.isConstant);
  const reported = varying.length === 0 && sorted.every(({ advantage }) => advantage !== undefined);
  const measured = sorted.every(({ length }) => length !== undefined);
  const tokens = varying.length === 0 ? undefined : tokenColumns(sorted.map((row) => row.tokens));
  const unknown = finding('group-size-unknown', 'The dump of the training has no group_index.');
  return {
    name: `step ${rollout}`,
    file: parts[0]!.file,
    trainingStep: rollout,
    group,
    reward: Float64Array.from(sorted, ({ reward = Number.NaN }) => reward),
    ...(reported ? { advantage: Float64Array.from(sorted, ({ advantage }) => advantage!) } : {}),
    ...(measured ? { responseLength: Int32Array.from(sorted, ({ length }) => length!) } : {}),
    ...(groupSize === undefined || isWhole ? {} : { groupSize }),
    ...(tokens === undefined ? {} : { tokens }),
    findings: [
      ...(grouped || groupSize !== undefined ? [] : [unknown]),
      ...(isWhole ? [wholeFinding(sorted.length, blockRows)] : []),
      ...(isWhole ? [] : (blocks?.findings.filter(({ code }) => code === 'block-partial') ?? [])),
      ...(tokens === undefined ? perToken(varying) : []),
      ...apart(sorted),
    ],
  };
}

/** By the position in the rollout. Of a file that counts through the run, the row with that number is meant. */
function positionOf({ position, index }: Row, rows: ReadonlyMap<number, Row>): number {
  if (rows.size === 0 || rows.has(position) || index === undefined) return position;
  return [...rows.values()].find((row) => row.index === index)?.position ?? position;
}

/** slime compares all rows of a rollout with one another if they are not as many as the blocks would have. */
function wholeFinding(rows: number, blockRows: number | undefined): Finding {
  const expected = blockRows === undefined ? '' : `, not ${blockRows.toLocaleString('en-US')}`;
  return finding(
    'rollout-uneven',
    `The rollout has ${counted(rows, 'row')}${expected}, and its groups are one.`,
  );
}

function isUneven({ ids, names }: Names): boolean {
  const sizes = new Int32Array(names.length);
  for (const id of ids) sizes[id]! += 1;
  return sizes.some((size) => size !== sizes[0]);
}

/** The trainer takes blocks by position; a group whose rows do not follow one another is in several blocks. */
function apart(rows: readonly Row[]): Finding[] {
  const seen = new Set<string>();
  const off: number[] = [];
  rows.forEach(({ group }, row) => {
    if (group === undefined || group === rows[row - 1]?.group) return;
    if (seen.has(group)) off.push(row);
    seen.add(group);
  });
  if (off.length === 0) return [];
  return [finding('group-apart', `Rows of one group_index stand apart, from row ${off[0]} on.`, off)];
}

function numberIn(file: string): number {
  return Number(/(\d+)(?:_\d+)?\.pt$/.exec(file)?.[1] ?? Number.NaN);
}

function fault(file: string, expected: string, found = 'another object'): BatchFormatError {
  return new BatchFormatError({ code: 'invalid', file, expected, found });
}
