/**
 * Any table with one response a row: JSON lines, CSV or parquet. The columns are given by the caller or known for some
 * trainers that write no advantages.
 */

import { basename, dirname } from 'node:path';
import { counted } from 'command-kit/plural';
import { estimatorFrom, MAX_ROWS } from '../format/batch.ts';
import { BatchFormatError } from '../format/format-error.ts';
import { finding, some } from '../report/findings.ts';
import type { Finding } from '../report/report.ts';
import type { DumpAdapter, DumpOptions, DumpStep, FileStart, Mapping, Names } from './adapter.ts';
import { blocksOf } from './blocks.ts';
import { advantagesOf, numberIn, rewardsOf } from './cells.ts';
import { namesOf } from './dump-batch.ts';
import { recordsOf, type TableRow } from './records.ts';
import { numberOf, promptKey } from './rewards.ts';
import { openSource } from './source.ts';

/** A trainer whose dump is a table with columns of known meaning. */
interface KnownTable {
  readonly name: string;
  readonly title: string;
  /** Columns that together only this trainer has. */
  readonly columns: readonly string[];
  readonly map: Mapping;
  readonly estimator: ReturnType<typeof estimatorFrom>;
  /** One file holds one group: files of one folder are one step. */
  readonly groupPerFile?: true;
  /** The trajectory column names a row within its group. */
  readonly rowPerTrajectory?: true;
  /** The column that groups rows if the group column is absent. */
  readonly otherwise?: string;
  /** A column from which the start of each row's trajectory follows: rows of one group have the same. */
  readonly start?: { readonly column: string; readonly of: (value: unknown) => number | undefined };
}

/** Tokens of the first observation: rollouts of one problem begin with the same. */
function firstObservation(steps: unknown): number | undefined {
  const [first] = Array.isArray(steps) ? steps : [];
  const length =
    typeof first === 'object' && first !== null ? (first as { ob_len?: unknown }).ob_len : undefined;
  return typeof length === 'number' ? length : undefined;
}

const POPULATION = estimatorFrom('grpo', { deviation: 'population', singleton: 'zero' }, 'float64');
const CENTRED = estimatorFrom('grpo', { normalizeByStd: false, singleton: 'zero' });

const KNOWN: readonly KnownTable[] = [
  {
    name: 'tinker-cookbook',
    title: 'tinker-cookbook rollout summaries (JSON lines)',
    columns: ['group_idx', 'traj_idx', 'total_reward', 'iteration'],
    map: { group: 'group_idx', trajectory: 'traj_idx', reward: 'total_reward', step: 'iteration' },
    rowPerTrajectory: true,
    start: { column: 'steps', of: firstObservation },
    estimator: CENTRED,
  },
  {
    name: 'art',
    title: 'ART trajectories (parquet)',
    columns: ['group_index', 'reward', 'messages'],
    map: { group: 'group_index', reward: 'reward' },
    estimator: POPULATION,
  },
  {
    name: 'areal',
    title: 'AReaL rollouts (JSON lines)',
    columns: ['task_id', 'sample_idx', 'head_version', 'reward'],
    map: { group: 'task_id', trajectory: 'sample_idx', reward: 'reward' },
    estimator: estimatorFrom('grpo', { epsilon: 1e-5 }),
    groupPerFile: true,
    rowPerTrajectory: true,
  },
];

/** Adapters of the known tables. */
export const KNOWN_TABLES: readonly DumpAdapter[] = KNOWN.map((table) => ({
  name: table.name,
  title: table.title,
  matches: (start) => hasColumns(start, table.columns),
  estimators: [table.estimator],
  ...(table.groupPerFile ? { runOf: (file) => dirname(dirname(file)) } : {}),
  steps: (files, options) => tableSteps(files, { ...options, map: { ...table.map, ...options.map } }, table),
}));

/** The adapter of a table whose columns the caller names. */
export const TABLE: DumpAdapter = {
  name: 'table',
  title: 'table (CSV, JSON or parquet)',
  matches: (start) => hasColumns(start, ['group', 'reward']),
  estimators: [],
  steps: (files, options) =>
    tableSteps(files, {
      ...options,
      map: { group: 'group', reward: 'reward', advantage: 'advantage', ...options.map },
    }),
};

/** True if the first row of a table has these columns, as single values. */
export function hasColumns({ parquet, keys, header }: FileStart, columns: readonly string[]): boolean {
  const names = new Set([
    ...(parquet?.columns.map(({ name }) => name) ?? []),
    ...[...(keys ?? [])]
      .filter(([name, kind]) => kind !== 'array' || name === 'messages')
      .map(([name]) => name),
    ...(header ?? []),
  ]);
  return columns.every((name) => names.has(name));
}

/** The rows of one step, as far as they were read. */
interface Pending {
  readonly key: string;
  readonly file: string;
  readonly step: number | undefined;
  readonly group: string[];
  readonly trajectory: string[];
  readonly reward: (number | undefined)[];
  readonly advantage: (number | undefined)[];
  readonly start: (number | undefined)[];
}

/** Rows with one step value that follow one another are a step; without a step column, a file (or a folder) is. */
export async function* tableSteps(
  files: readonly string[],
  options: DumpOptions,
  {
    groupPerFile,
    rowPerTrajectory,
    otherwise,
    start,
  }: Pick<KnownTable, 'groupPerFile' | 'rowPerTrajectory' | 'otherwise' | 'start'> = {},
): AsyncGenerator<DumpStep> {
  const map = options.map ?? {};
  const others = [otherwise, start?.column].filter((name) => name !== undefined);
  const columns = [...Object.values(map), ...others];
  let pending: Pending | undefined;
  for (const file of files) {
    const rows: AsyncIterable<TableRow> = fileRows(file, columns);
    for await (const row of rows) {
      const step = map.step === undefined ? undefined : row[map.step];
      const key = promptKey([groupPerFile ? dirname(file) : file, step ?? null]);
      if (pending !== undefined && pending.key !== key) {
        yield finished(pending, map, { ...options, rowPerTrajectory });
        pending = undefined;
      }
      pending ??= {
        key,
        file,
        step: stepNumber(step),
        group: [],
        trajectory: [],
        reward: [],
        advantage: [],
        start: [],
      };
      addRow(pending, row, map);
      pending.group.push(promptKey(row[map.group ?? ''] ?? row[otherwise ?? '']));
      if (start !== undefined) pending.start.push(start.of(row[start.column]));
    }
  }
  if (pending !== undefined) yield finished(pending, map, { ...options, rowPerTrajectory });
}

async function* fileRows(file: string, columns: readonly string[]): AsyncGenerator<TableRow> {
  await using source = await openSource(file);
  yield* recordsOf(source, columns);
}

function stepNumber(value: unknown): number | undefined {
  const step = numberOf(value);
  return Number.isInteger(step) ? step : undefined;
}

function addRow(pending: Pending, row: TableRow, map: Mapping): void {
  const at = pending.reward.length;
  if (at === MAX_ROWS) {
    const expected = `steps of at most ${MAX_ROWS} rows (name a step column)`;
    throw new BatchFormatError({ code: 'too-large', file: pending.file, expected, found: 'more' });
  }
  const cell = (name: string | undefined): number | undefined =>
    name === undefined ? undefined : numberIn(row[name], { file: pending.file, field: `row ${at}, ${name}` });
  pending.reward.push(cell(map.reward));
  pending.advantage.push(cell(map.advantage));
  if (map.trajectory !== undefined) pending.trajectory.push(promptKey(row[map.trajectory]));
}

function finished(
  pending: Pending,
  map: Mapping,
  { groupSize, rowPerTrajectory }: DumpOptions & { rowPerTrajectory: true | undefined },
): DumpStep {
  const { step, file, reward, advantage, trajectory } = pending;
  const grouped = pending.group.some((name) => name !== '');
  const blocks = grouped || groupSize === undefined ? undefined : blocksOf(pending.group, groupSize);
  const group = blocks?.group ?? namesOf(pending.group);
  const name = step === undefined ? basename(file) : `step ${step}`;
  const own =
    trajectory.length === 0
      ? undefined
      : namesOf(trajectory.map((one, row) => `${group.names[group.ids[row]!]}/${one}`));
  return {
    name,
    file,
    ...(step === undefined ? {} : { trainingStep: step }),
    group,
    ...(own === undefined ? {} : { trajectory: own }),
    ...rewardsOf(reward),
    ...advantagesOf(advantage),
    ...(groupSize === undefined ? {} : { groupSize }),
    findings: [
      ...(grouped || groupSize !== undefined
        ? (blocks?.findings.filter(({ code }) => code === 'block-partial') ?? [])
        : [groupUnknown(map)]),
      ...(own !== undefined && rowPerTrajectory ? repeated(own) : []),
      ...differentStarts(group, pending.start),
    ],
  };
}

/** Groups whose trajectories start with observations of different lengths: they are of different problems. */
function differentStarts({ ids, names }: Names, starts: readonly (number | undefined)[]): Finding[] {
  const first = new Map<number, number>();
  const mixed = new Set<number>();
  starts.forEach((start, row) => {
    if (start === undefined) return;
    const id = ids[row]!;
    if (!first.has(id)) first.set(id, start);
    else if (first.get(id) !== start) mixed.add(id);
  });
  if (mixed.size === 0) return [];
  const rows = [...ids.keys()].filter((row) => mixed.has(ids[row]!));
  const groups = some(
    [...mixed].map((id) => names[id]!),
    3,
  );
  return [finding('block-mixed', `${counted(mixed.size, 'group')} of ${names.length} (${groups}).`, rows)];
}

/** Rows of a trajectory that has another row, in a table of one row for each. */
function repeated({ ids, names }: Names): Finding[] {
  const seen = new Uint8Array(names.length);
  const rows = [...ids.keys()].filter((row) => seen[ids[row]!]!++ > 0);
  if (rows.length === 0) return [];
  const text = `${counted(rows.length, 'row')} of a trajectory that another row holds (${some(
    rows.map((row) => names[ids[row]!]!),
    3,
  )}).`;
  return [finding('row-duplicated', text, rows)];
}

function groupUnknown({ group }: Mapping): Finding {
  return finding('group-size-unknown', `There is no column ${JSON.stringify(group ?? 'group')}.`);
}
