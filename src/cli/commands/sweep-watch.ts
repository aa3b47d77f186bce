import { setTimeout as delay } from 'node:timers/promises';
import { STATES } from '../../core/states.ts';
import type { Sweep, SweepDetail } from '../../schemas/sweep.ts';
import type { Client } from '../client.ts';
import { CliError, EXIT } from '../exit.ts';
import { interruptible } from '../interruptible.ts';
import { coloredState, jsonLine, type Output, plural } from '../output.ts';
import { patient } from '../patient.ts';

/** Time between two looks at a sweep that is watched. */
const WATCH_MS = 1_000;
/** Children of one answer of the API at most. */
const PAGE = 200;

const pathOf = (id: string): string => `/v1/sweeps/${encodeURIComponent(id)}`;

/**
 * Prints a line whenever the counts of a sweep change, until its last child has ended and its batches are verified.
 * Throws {@link CliError} (exit status 1) where a child did not succeed or a batch was not ok.
 */
export async function watchSweep(options: {
  client: Client;
  id: string;
  output: Output;
  json: boolean;
  everyMs?: number;
}): Promise<void> {
  await interruptible(options, () => followSweep(options));
}

async function followSweep(options: Parameters<typeof watchSweep>[0]): Promise<void> {
  const { client, id, output, everyMs = WATCH_MS } = options;
  const look = patient(() => client.get<SweepDetail>(pathOf(id), { limit: 1 }), { output });
  let said = '';
  for (;;) {
    const { children: _children, next: _next, spec: _spec, axes: _axes, ...sweep } = await look();
    const text = options.json ? jsonLine(sweep) : `${id}  ${progress(sweep)}`;
    if (text !== said) output.line(text);
    said = text;
    if (sweep.endedAt !== null) return await judge(sweep, options);
    await delay(everyMs);
  }
}

/** Says what came of a sweep that has ended; throws where that is not well. */
async function judge(sweep: Sweep, options: Parameters<typeof watchSweep>[0]): Promise<void> {
  const { id, state, count, counts } = sweep;
  const found = await findingsOf({ ...options, wait: true });
  if (!options.json)
    options.output.remark(`${findingsInWords(found)}; \`echelon sweep get ${id}\` says more.`);
  const faults = [
    ...(counts.succeeded === count ? [] : [`${counts.succeeded} of ${count} children succeeded`]),
    ...(found.wrong + found.errors === 0
      ? []
      : [`the training signal was not right (${found.wrong} wrong rows, ${found.errors} error findings)`]),
  ];
  if (faults.length > 0) throw new CliError(EXIT.notOk, `${id} ${state}: ${faults.join('; ')}`);
}

/** What was found of the batches of all children of a sweep together. */
export interface Findings {
  seen: number;
  verified: number;
  wrong: number;
  errors: number;
  /** Children with wrong rows or error findings. */
  faulty: number;
}

/** Adds up what was found of the children. With `wait` the sweep has ended, and every report is waited for. */
export async function findingsOf(options: {
  client: Client;
  id: string;
  output: Output;
  wait: boolean;
  everyMs?: number;
}): Promise<Findings> {
  const { client, id, output, wait, everyMs = WATCH_MS } = options;
  const sum: Findings = { seen: 0, verified: 0, wrong: 0, errors: 0, faulty: 0 };
  let cursor: string | undefined;
  const look = patient(() => client.get<SweepDetail>(pathOf(id), { limit: PAGE, cursor }), { output });
  for (;;) {
    const { children, next } = await look();
    if (wait && children.some(({ verification }) => verification?.status === 'pending')) {
      await delay(everyMs);
      continue;
    }
    for (const { verification } of children) add(sum, verification);
    if (next === null) return sum;
    cursor = next;
  }
}

function add(sum: Findings, found: SweepDetail['children'][number]['verification']): void {
  if (found === null) return;
  sum.seen += found.rowsSeen;
  sum.verified += found.rowsVerified;
  sum.wrong += found.wrong;
  sum.errors += found.errors;
  if (found.wrong + found.errors > 0) sum.faulty++;
}

/** "9 of 9 rows verified, 2 wrong, 1 error finding, in 1 of the children". */
export function findingsInWords({ seen, verified, wrong, errors, faulty }: Findings): string {
  const rows = `${verified} of ${seen} rows verified, ${wrong} wrong`;
  return faulty === 0 ? rows : `${rows}, ${plural(errors, 'error finding')}, in ${faulty} of the children`;
}

/** What is said of a child that was not made yet: of a cancelled sweep it never will be. */
export const unmade = ({ endedAt }: Pick<Sweep, 'endedAt'>): string =>
  endedAt === null ? 'to come' : 'never made';

/** The children of a sweep by state, in words. */
export function progress(sweep: Sweep): string {
  const { counts, count: children, expanded, skipped, stoppedEarly } = sweep;
  const parts = STATES.filter((state) => counts[state] > 0).map(
    (state) => `${counts[state]} ${coloredState(state)}`,
  );
  const left = children - expanded - skipped;
  if (left > 0) parts.push(`${left} ${unmade(sweep)}`);
  if (skipped > 0) parts.push(`${skipped} skipped`);
  if (stoppedEarly > 0) parts.push(`${stoppedEarly} stopped early`);
  return parts.join(', ');
}
