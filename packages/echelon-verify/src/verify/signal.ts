/** How much a step can teach: what its rewards and advantages say without any formula of the trainer. */

import { percent } from 'command-kit/number';
import { counted } from 'command-kit/plural';
import type { DumpStep, Names } from '../dumps/adapter.ts';
import { finding, some } from '../report/findings.ts';
import type { Finding } from '../report/report.ts';

/** Advantages above this size make large updates. */
const LARGE = 10;

/** Counts over a step, or over several. Shares of these are what people look at. */
export interface SignalHealth {
  readonly groups: number;
  readonly rows: number;
  /** Groups without signal, by reason: one row, all rewards at the step's lowest, at its highest, or equal in between. */
  readonly single: number;
  readonly allLowest: number;
  readonly allHighest: number;
  readonly allEqual: number;
  /** Sum over the groups with signal of (Σ|r − mean|)² / Σ(r − mean)²: rows that carry the signal. */
  readonly effectiveRows: number;
  /** Rows of the groups with signal. */
  readonly rowsWithSignal: number;
  /** Rows with an advantage; the following counts are of these. */
  readonly advantages: number;
  /** Rows that share their group's extreme advantage with a row of another reward. */
  readonly clipped: number;
  /** |advantage| above 10. */
  readonly large: number;
  /** Rows whose advantage has another sign than reward less group mean. */
  readonly flipped: number;
}

/** The counts of one step. Linear in the rows. */
export function signalOf({ group, reward, advantage }: DumpStep): SignalHealth {
  const members = membersOf(group, reward);
  const finite = reward.filter(Number.isFinite);
  const lowest = finite.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const highest = finite.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const total = { ...NO_SIGNAL, groups: members.length, rows: reward.length };
  for (const rows of members) {
    const first = reward[rows[0]!]!;
    if (rows.length === 1) total.single++;
    else if (rows.every((row) => reward[row] === first)) {
      if (first === lowest) total.allLowest++;
      else if (first === highest) total.allHighest++;
      else total.allEqual++;
    } else {
      total.rowsWithSignal += rows.length;
      total.effectiveRows += effectiveRows(rows, reward);
    }
    if (advantage !== undefined) addAdvantages(total, rows, reward, advantage);
  }
  return total;
}

type Counts = { -readonly [K in keyof SignalHealth]: number };

/** Nothing counted yet. */
export const NO_SIGNAL: SignalHealth = {
  groups: 0,
  rows: 0,
  single: 0,
  allLowest: 0,
  allHighest: 0,
  allEqual: 0,
  effectiveRows: 0,
  rowsWithSignal: 0,
  advantages: 0,
  clipped: 0,
  large: 0,
  flipped: 0,
};

/** The counts of two lots of steps together. */
export function addSignal(a: SignalHealth, b: SignalHealth): SignalHealth {
  const sums = Object.keys(a).map((key) => [
    key,
    a[key as keyof SignalHealth] + b[key as keyof SignalHealth],
  ]);
  return Object.fromEntries(sums) as unknown as SignalHealth;
}

/** The rows of each group that have a reward. */
function membersOf({ ids, names }: Names, reward: Float64Array): number[][] {
  const members: number[][] = names.map(() => []);
  ids.forEach((id, row) => {
    if (!Number.isNaN(reward[row]!)) members[id]!.push(row);
  });
  return members.filter((rows) => rows.length > 0);
}

function meanOf(rows: readonly number[], reward: Float64Array): number {
  return rows.reduce((sum, row) => sum + reward[row]! / rows.length, 0);
}

function effectiveRows(rows: readonly number[], reward: Float64Array): number {
  const mean = meanOf(rows, reward);
  let sizes = 0;
  let squares = 0;
  for (const row of rows) {
    sizes += Math.abs(reward[row]! - mean);
    squares += (reward[row]! - mean) ** 2;
  }
  const effective = sizes ** 2 / squares;
  return Number.isFinite(effective) ? effective : 0;
}

function addAdvantages(
  total: Counts,
  rows: readonly number[],
  reward: Float64Array,
  advantage: Float64Array,
): void {
  const mean = meanOf(rows, reward);
  const extremes = rows.reduce(
    ([low, high], row) => [Math.min(low!, advantage[row]!), Math.max(high!, advantage[row]!)],
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  );
  const equalRewards = rows.every((row) => reward[row] === reward[rows[0]!]);
  for (const row of rows) {
    const a = advantage[row]!;
    const off = reward[row]! - mean;
    if (Number.isNaN(a)) continue;
    total.advantages++;
    if (Math.abs(a) > LARGE) total.large++;
    // A residue of equal rewards has no sign that counts.
    if (!equalRewards && Math.abs(off) > 1e-6 * Math.abs(mean) && a * off < 0) total.flipped++;
    const atExtreme = a !== 0 && (a === extremes[0] || a === extremes[1]);
    if (atExtreme && rows.some((other) => advantage[other] === a && reward[other] !== reward[row]))
      total.clipped++;
  }
}

/** Share of advantages of another sign that is no accident of an estimator with another baseline. */
const MANY_FLIPPED = 0.25;
/** Share of rollouts that may fail without a finding, and rows below which there is none. */
const MANY_FAILED = 0.1;
const MIN_ROWS = 8;

/** What a step says without a formula that is no healthy training. `isVerified`: every advantage is what the formula gives. */
export function signalFindings(step: DumpStep, signal: SignalHealth, isVerified: boolean): Finding[] {
  const { groups, single, allLowest, allHighest, allEqual, advantages, flipped, rows } = signal;
  const without = allLowest + allHighest + allEqual;
  const findings = failedFindings(step);
  if (groups > single && without === groups - single) {
    const text = `All ${counted(rows, 'row')} in ${counted(groups, 'group')} have the rewards of their groups.`;
    findings.push(finding('no-signal', text));
  }
  if (!isVerified && advantages >= MIN_ROWS && flipped >= MANY_FLIPPED * advantages)
    findings.push(
      finding('signs-flipped', `${percent(flipped, advantages)} of ${counted(advantages, 'row')}.`),
    );
  return findings;
}

/** Rows with at most one trained token and the reward 0. */
function failedFindings({ responseLength, reward, findings }: DumpStep): Finding[] {
  if (responseLength === undefined || findings.some(({ code }) => code === 'rollouts-failed')) return [];
  const rows = [...reward.keys()].filter((row) => responseLength[row]! <= 1 && reward[row] === 0);
  // Answers of one token are usual if hardly a row has more.
  const isLong = responseLength.some((length) => length > 8);
  if (reward.length < MIN_ROWS || !isLong || rows.length < MANY_FAILED * reward.length) return [];
  const text = `${counted(rows.length, 'row')} of ${reward.length} (row ${some(rows, 3)}).`;
  return [finding('rollouts-failed', text, rows)];
}

/** Advantages that no formula gives: those that are not finite although all rewards are. A group of one may have no deviation. */
export function nonFiniteFindings({ group, reward, advantage, unreported }: DumpStep): Finding[] {
  if (advantage === undefined || !reward.every(Number.isFinite)) return [];
  const rows = membersOf(group, reward)
    .filter((own) => own.length > 1)
    .flat()
    .filter((row) => !Number.isFinite(advantage[row]!) && unreported?.[row] !== 1);
  if (rows.length === 0) return [];
  return [finding('advantage-non-finite', `${counted(rows.length, 'row')} (row ${some(rows, 3)}).`, rows)];
}

/** Groups whose rewards differ and whose advantages are all 0. */
export function zeroFindings({ group, reward, advantage }: DumpStep): Finding[] {
  if (advantage === undefined) return [];
  const members = membersOf(group, reward);
  const off = members.filter(
    (rows) =>
      rows.every((row) => advantage[row] === 0) && rows.some((row) => reward[row] !== reward[rows[0]!]),
  );
  if (off.length === 0) return [];
  const names = off.map((rows) => group.names[group.ids[rows[0]!]!]!);
  return [finding('zero-with-spread', `${counted(off.length, 'group')} (${some(names, 3)}).`, off.flat())];
}
