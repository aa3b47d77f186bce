/** What to say of a table whose columns are not those of a known trainer. */

import { BatchFormatError } from '../format/format-error.ts';
import { type FileStart, type Mapping, MEANINGS } from './adapter.ts';

/** What trainers call the columns, the most particular first. */
const USUAL: Readonly<Record<keyof Mapping, readonly string[]>> = {
  group: [
    ...['group', 'group_id', 'group_index', 'group_idx', 'uid', 'prompt_id', 'prompt_idx', 'prompt_index'],
    ...['task_id', 'question_id', 'problem_id', 'query_id', 'prompt', 'question', 'input'],
  ],
  reward: ['reward', 'rewards', 'total_reward', 'final_reward', 'score', 'scores', 'return', 'accuracy'],
  advantage: ['advantage', 'advantages', 'adv', 'norm_reward', 'normalized_reward'],
  trajectory: ['trajectory', 'trajectory_id', 'traj_id', 'traj_idx', 'sample_id', 'rollout_id', 'episode_id'],
  step: ['step', 'global_step', 'training_step', 'train_step', 'iteration', 'epoch_step'],
};
/** Columns without which a table says nothing. */
const NEEDED: readonly (keyof Mapping)[] = ['group', 'reward'];
const MAX_LISTED = 12;

/** The columns of a table, as far as its start tells them; undefined for any other file. */
function columnsOf({ parquet, keys, header }: FileStart): string[] | undefined {
  const names = parquet?.columns.map(({ name }) => name) ?? (keys ? [...keys.keys()] : header);
  return names === undefined || names.length === 0 ? undefined : [...names];
}

/** The fault of a table that lacks a column which the caller names; undefined if the file is no table. */
export function unmapped(start: FileStart, wanted: readonly string[]): BatchFormatError | undefined {
  const columns = columnsOf(start);
  const missing = columns && wanted.find((name) => !columns.includes(name));
  if (missing === undefined) return undefined;
  const expected = `a column ${JSON.stringify(missing)}, which --map names`;
  const found = `the columns ${listed(columns!)}`;
  return new BatchFormatError({ code: 'missing', file: start.path, expected, found });
}

/** The fault of a table of no known trainer: the options that fit its columns, and what is missing; undefined if it is none. */
export function unknownTable(start: FileStart): BatchFormatError | undefined {
  const columns = columnsOf(start);
  if (columns === undefined) return undefined;
  const found = `the columns ${listed(columns)}`;
  return new BatchFormatError({ code: 'unreadable', file: start.path, expected: adviceFor(columns), found });
}

function adviceFor(columns: readonly string[]): string {
  const lower = new Map(columns.map((name) => [name.toLowerCase(), name]));
  const fitting = MEANINGS.flatMap((meaning) => {
    const usual = USUAL[meaning].find((name) => lower.has(name));
    return usual === undefined ? [] : [[meaning, lower.get(usual)!] as const];
  });
  const map = fitting.map(([meaning, name]) => `${meaning}=${name}`).join(',');
  const missing = NEEDED.filter((meaning) => !fitting.some(([own]) => own === meaning));
  if (missing.length === 0)
    return `a format that is known, or a table whose columns are named with --map ${map} (if that is what they are)`;
  const known = map === '' ? '' : ` ${map} and`;
  const rest = missing.map((meaning) => `${meaning}=COLUMN`).join(',');
  return `a format that is known, or a table whose columns are named with --map:${known} ${rest}, for which no column has a usual name`;
}

function listed(columns: readonly string[]): string {
  const shown = columns.slice(0, MAX_LISTED).join(', ');
  return columns.length > MAX_LISTED ? `${shown} and ${columns.length - MAX_LISTED} more` : shown;
}
