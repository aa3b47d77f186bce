import { setTimeout as delay } from 'node:timers/promises';
import { CliError, EXIT } from 'command-kit/exit';
import { jsonLine, type Output } from 'command-kit/output';
import { plural } from 'command-kit/plural';
import type { Sweep, SweepDetail } from 'echelon-client/calls';
import { STATES } from '../../core/states.ts';
import { type Client, MAX_PAGE } from '../client.ts';
import { interruptible } from '../lifetime.ts';
import { retrying } from '../retrying.ts';
import { coloredState } from '../states.ts';

/** Time between two polls of a watched sweep. */
const POLL_MS = 1_000;

/**
 * Prints a line whenever the counts of a sweep change, until its last child has ended and all batches are verified.
 * Throws a {@link CliError} (exit status 1) if a child did not succeed or a batch was not ok.
 */
export async function watchSweep(options: {
  client: Client;
  id: string;
  output: Output;
  json: boolean;
  pollMs?: number;
}): Promise<void> {
  await interruptible(options, () => followSweep(options));
}

async function followSweep(options: Parameters<typeof watchSweep>[0]): Promise<void> {
  const { client, id, output, pollMs = POLL_MS } = options;
  const query = { limit: 1 };
  const poll = retrying(() => client.get('/v1/sweeps/{id}', { path: { id }, query }), { output });
  let printed = '';
  for (;;) {
    const { children: _children, next: _next, spec: _spec, axes: _axes, ...sweep } = await poll();
    const text = options.json ? jsonLine(sweep) : `${id}  ${progress(sweep)}`;
    if (text !== printed) output.line(text);
    printed = text;
    if (sweep.endedAt !== null) return await judge(sweep, options);
    await delay(pollMs);
  }
}

/** Prints the result of a sweep that has ended; throws if it is negative. */
async function judge(sweep: Sweep, options: Parameters<typeof watchSweep>[0]): Promise<void> {
  const { id, state, count, counts } = sweep;
  const found = await findingsOf({ ...options, wait: true });
  if (!options.json) options.output.remark(`${findingsInWords(found)}. See \`echelon sweeps get ${id}\`.`);
  const faults = [
    ...(counts.succeeded === count ? [] : [`${counts.succeeded} of ${count} children succeeded`]),
    ...(found.faulty === 0
      ? []
      : [
          `wrong training signal in ${plural(found.faulty, 'child', 'children')}: ${plural(found.wrong, 'wrong row')}, ${plural(found.errors, 'error finding')}`,
        ]),
    ...(found.unread === 0 ? [] : [`${plural(found.unread, 'child', 'children')} could not be verified`]),
  ];
  if (faults.length > 0) throw new CliError(EXIT.notOk, `${id} ${state}: ${faults.join('; ')}`);
}

/** The verification of all children of a sweep together. */
interface Findings {
  seen: number;
  verified: number;
  wrong: number;
  errors: number;
  /** Children with a wrong training signal. */
  faulty: number;
  /** Children of which a batch could not be read, and no signal is wrong. */
  unread: number;
}

/** Adds up the verification of the children. With `wait`, the sweep has ended, and the function waits for every report. */
export async function findingsOf(options: {
  client: Client;
  id: string;
  output: Output;
  wait: boolean;
  pollMs?: number;
}): Promise<Findings> {
  const { client, id, output, wait, pollMs = POLL_MS } = options;
  const sum: Findings = { seen: 0, verified: 0, wrong: 0, errors: 0, faulty: 0, unread: 0 };
  let cursor: string | undefined;
  const poll = retrying(
    () => client.get('/v1/sweeps/{id}', { path: { id }, query: { limit: MAX_PAGE, cursor } }),
    { output },
  );
  for (;;) {
    const { children, next } = await poll();
    if (wait && children.some(({ verification }) => verification?.status === 'pending')) {
      await delay(pollMs);
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
  if (found.signal === 'wrong') sum.faulty++;
  else if (found.signal === 'unverified' && found.errors > 0) sum.unread++;
}

/** "9 of 9 rows verified, 2 wrong, 1 error finding, in 1 child". */
export function findingsInWords({ seen, verified, wrong, errors, faulty }: Findings): string {
  const rows = `${verified} of ${seen} rows verified, ${wrong} wrong`;
  return faulty === 0
    ? rows
    : `${rows}, ${plural(errors, 'error finding')}, in ${plural(faulty, 'child', 'children')}`;
}

/** The state of a child without an experiment. A cancelled sweep creates no more of them. */
export const notCreated = ({ endedAt }: Pick<Sweep, 'endedAt'>): string =>
  endedAt === null ? 'not yet created' : 'never created';

/** The number of children by state, in words. */
export function progress(sweep: Omit<Sweep, 'spec' | 'axes'>): string {
  const { counts, count: children, expanded, skipped, stoppedEarly } = sweep;
  const parts = STATES.filter((state) => counts[state] > 0).map(
    (state) => `${counts[state]} ${coloredState(state)}`,
  );
  const left = children - expanded - skipped;
  if (left > 0) parts.push(`${left} ${notCreated(sweep)}`);
  if (skipped > 0) parts.push(`${skipped} skipped`);
  if (stoppedEarly > 0) parts.push(`${stoppedEarly} stopped early`);
  return parts.join(', ');
}
