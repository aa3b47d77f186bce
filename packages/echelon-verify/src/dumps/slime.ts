/**
 * slime (and its fork miles) with `--dump-details DIR`: torch files of rollouts (`samples` with `group_index` and `reward`) and of
 * training (`samples` with `advantages` at each token, `raw_reward`). Files of one rollout are one step. The trainer computes over
 * blocks of `n_samples_per_prompt` rows.
 */

import { basename, dirname } from 'node:path';
import { counted } from 'command-kit/plural';
import { PyDict } from 'ray-client-ts/pickle/values';
import { groupedBy } from '../base/grouped-by.ts';
import { present } from '../base/present.ts';
import { BatchFormatError } from '../format/format-error.ts';
import { finding } from '../report/findings.ts';
import type { Finding } from '../report/report.ts';
import type { DumpAdapter, DumpOptions, DumpStep, Names } from './adapter.ts';
import { blocksOf } from './blocks.ts';
import { advantagesOf, rewardsOf } from './cells.ts';
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
  matches: ({ isZip, path, bytes }) => isZip && /\.pt$/i.test(path) && isRollout(bytes),
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

/** A first key of both files. Weights and states of optimizers, which are zip files of torch as well, do not have it. */
const isRollout = (start: Uint8Array): boolean =>
  Buffer.from(start).toString('latin1').includes('rollout_id');

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

/** The rows of the files of one rollout: groups of the rollout dump, advantages of the training dump. */
function stepOf(rollout: number, parts: readonly Part[], options: DumpOptions): DumpStep {
  const rows = joinedRows(parts);
  const all = readingsOf(rows, options).map((reading) => readingOf(rollout, parts[0]!.file, reading));
  const [only, ...others] = all;
  const idle = (options.withoutEffect ?? []).map((text) => finding('setting-without-effect', `${text}.`));
  const first = { ...only!, findings: [...only!.findings, ...idle] };
  return others.length === 0 ? first : { ...first, rowsInDump: rows.length, otherReadings: others };
}

/** Which rows the trainer compared with one another. */
interface Reading {
  readonly rows: readonly Row[];
  readonly group: Names;
  readonly groupSize?: number | undefined;
  readonly findings: readonly Finding[];
}

/**
 * One reading, unless rollouts have several samples: then later versions of miles count each rollout once, among those of its
 * prompt, and slime takes blocks of positions all the same. No file says which.
 */
function readingsOf(rows: readonly Row[], options: DumpOptions): Reading[] {
  const grouped = rows.every(({ group }) => group !== undefined);
  const own = grouped ? namesOf(rows.map((row) => row.group!)) : undefined;
  const rollouts = own && rolloutsOf(rows);
  if (own === undefined || rollouts === undefined) return [byGroup(rows, own, options)];
  const text = `${counted(rows.length, 'sample')} are of ${counted(rollouts.length, 'rollout')}.`;
  const fanned = finding('rollouts-fanned-out', text);
  const once = rollouts.map(([first]) => first!);
  const byRollout = { rows: once, group: namesOf(once.map((row) => row.group!)), findings: [fanned] };
  const byPosition = byPositions(rows, options, largestGroup(byRollout.group));
  const positions = { ...byPosition, findings: [fanned, ...byPosition.findings] };
  const agree = rollouts.every(([first, ...siblings]) => siblings.every((row) => isEqual(first!, row)));
  return agree ? [byRollout, positions] : [positions];
}

/** The samples of each rollout, which share `index`; undefined if each rollout has one. */
function rolloutsOf(rows: readonly Row[]): Row[][] | undefined {
  if (rows.some(({ index }) => index === undefined)) return undefined;
  const rollouts = [...groupedBy(rows, ({ group, index }) => `${group}/${index}`).values()];
  return rollouts.length < rows.length ? rollouts : undefined;
}

const isEqual = (a: Row, b: Row): boolean =>
  Object.is(a.reward, b.reward) && Object.is(a.advantage, b.advantage);

function largestGroup({ ids, names }: Names): number {
  const sizes = new Int32Array(names.length);
  for (const id of ids) sizes[id]! += 1;
  return sizes.reduce((most, size) => Math.max(most, size), 1);
}

function byPositions(
  rows: readonly Row[],
  { groupSize, blockRows = rows.length }: DumpOptions,
  largest: number,
): Reading {
  const size = groupSize ?? largest;
  if (rows.length !== blockRows || rows.length % size !== 0)
    return {
      rows,
      group: namesOf(rows.map(() => 'rollout')),
      findings: [wholeFinding(rows.length, blockRows)],
    };
  const { group, findings } = blocksOf(
    rows.map((row) => row.group!),
    size,
  );
  return { rows, group, findings: findings.filter(({ code }) => code === 'block-mixed') };
}

function byGroup(
  rows: readonly Row[],
  grouped: Names | undefined,
  { groupSize, blockRows }: Pick<DumpOptions, 'groupSize' | 'blockRows'>,
): Reading {
  const nameless = rows.map(() => '');
  const blocks = grouped === undefined && groupSize !== undefined ? blocksOf(nameless, groupSize) : undefined;
  const own = grouped ?? blocks?.group ?? namesOf(nameless);
  const isWhole = rows.length > 0 && (blockRows === undefined ? isUneven(own) : rows.length !== blockRows);
  const unknown = finding('group-size-unknown', 'The dump of the training has no group_index.');
  return {
    rows,
    group: isWhole ? namesOf(rows.map(() => 'rollout')) : own,
    groupSize: isWhole ? undefined : groupSize,
    findings: [
      ...(grouped !== undefined || groupSize !== undefined ? [] : [unknown]),
      ...(isWhole ? [wholeFinding(rows.length, blockRows)] : []),
      ...(isWhole ? [] : (blocks?.findings.filter(({ code }) => code === 'block-partial') ?? [])),
      ...apart(rows),
    ],
  };
}

function readingOf(rollout: number, file: string, { rows, group, groupSize, findings }: Reading): DumpStep {
  const varying = [...rows.keys()].filter((row) => !rows[row]!.isConstant);
  const measured = rows.every(({ length }) => length !== undefined);
  const tokens = varying.length === 0 ? undefined : tokenColumns(rows.map((row) => row.tokens));
  return {
    name: `step ${rollout}`,
    file,
    trainingStep: rollout,
    group,
    ...rewardsOf(rows.map(({ reward }) => reward)),
    ...(varying.length === 0 ? advantagesOf(rows.map(({ advantage }) => advantage)) : {}),
    ...(measured ? { responseLength: Int32Array.from(rows, ({ length }) => length!) } : {}),
    ...present({ groupSize, tokens }),
    findings: [...findings, ...(tokens === undefined ? perToken(varying) : [])],
  };
}

/**
 * The rows of all files by position in the rollout. A row of a training dump joins that of the rollout dump with its position, else
 * with its number. A file is never joined with itself: what claims one place twice is refused, unless two ranks wrote the same.
 */
function joinedRows(parts: readonly Part[]): Row[] {
  const joined = new Map<number, Row>();
  for (const { file, rows } of parts) {
    const places = placesIn(rows, joined, file);
    for (const [at, row] of rows.entries()) {
      const position = places[at]!;
      const known = joined.get(position);
      if (known?.advantage !== undefined && row.advantage !== undefined && !isSame(known, row))
        throw twice(file, row, 'another advantage in another file');
      joined.set(position, { ...known, ...row, position });
    }
  }
  return [...joined.values()].sort((a, b) => a.position - b.position);
}

const isSame = (a: Row, b: Row): boolean =>
  a.index === b.index && a.reward === b.reward && a.advantage === b.advantage && a.length === b.length;

/** The place of each row of a file. Of a file that counts positions through the run, the row with its number is meant. */
function placesIn(rows: readonly Row[], joined: ReadonlyMap<number, Row>, file: string): number[] {
  const numbered = new Map<number, number[]>();
  for (const { index, position } of joined.values())
    if (index !== undefined) numbered.set(index, [...(numbered.get(index) ?? []), position]);
  const taken = new Set<number>();
  return rows.map((row) => {
    const { position, index } = row;
    const meant =
      joined.size === 0 || joined.has(position) || index === undefined ? undefined : numbered.get(index);
    const place = meant?.find((one) => !taken.has(one)) ?? position;
    if (taken.has(place)) throw twice(file, row, 'a second sample in its place');
    taken.add(place);
    return place;
  });
}

function twice(file: string, { position }: Row, found: string): BatchFormatError {
  return new BatchFormatError({
    code: 'invalid',
    file,
    field: `samples, rollout_position ${position}`,
    expected: 'one sample for each place of the rollout',
    found,
  });
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
