/** An explanation as text for people: at most 100 columns, no colours, no control characters from the batch. */

import { inert } from 'command-kit/inert';
import { percent, significant } from 'command-kit/number';
import { plural } from 'command-kit/plural';
import type { ExplainedLevel, RowExplanation } from './explain.ts';

const SHOWN_MEMBERS = 12;
const WIDTH = 100;
const LABEL_WIDTH = 72;

/** The explanation as lines of text, ending in a newline. */
export function formatExplanation(e: RowExplanation): string {
  const lines = [
    `Row ${e.row} of ${oneLine(e.batch)} is ${e.outcome.toUpperCase()}`,
    '',
    ...outcomeLines(e),
    '',
    `  group ${oneLine(e.group)}, trajectory ${oneLine(e.trajectory)}, step ${e.step}`,
    ...(e.observation === null ? [] : [`  state   ${label(e.observation)}`]),
    `  ${e.fingerprint}`,
    ...goalLines(e),
    ...e.levels.flatMap((level) => ['', ...levelLines(level, e)]),
    ...resultLines(e),
  ];
  return `${lines.join('\n')}\n`;
}

function goalLines({ goal, stepReturn }: RowExplanation): string[] {
  if (goal === undefined) return [];
  const head = goal.reached
    ? `Path to the goal: ${plural(goal.distance, 'step')} from the next state`
    : `No step of the group leads from the next state to the goal: it counts as ${goal.distance} away`;
  return [
    '',
    `${head}; return ${show(stepReturn)}.`,
    ...goal.path.map((state, i) => `  ${i === 0 ? '   ' : '-> '}${label(state)}`),
  ];
}

function outcomeLines(e: RowExplanation): string[] {
  const lines = [
    ...(e.token === undefined ? [] : [`  token     ${e.token}, the worst of the row`]),
    `  reported  ${show(e.reported)}`,
    `  true      ${show(e.true)}`,
  ];
  if (e.interval !== null) {
    const { low, high } = e.interval;
    lines.push(`  possible  ${show(low)} to ${show(high)}   (${e.precision}, any order of summation)`);
  }
  const cause = e.likelyCause === null ? [] : [`  Likely cause: ${e.likelyCause}.`];
  return [...lines, '', `  ${sentence(e)}`, ...residueLines(e), ...cause];
}

/** The source of the rounding, if it is the mean of equal values. */
function residueLines(e: RowExplanation): string[] {
  if (e.outcome !== 'rounding') return [];
  const blurred = e.levels.filter(
    (l) => l.dropped?.reason === 'equal' && l.interval !== null && l.interval.high > 0,
  );
  if (blurred.length === 0) return [];
  const names = blurred.map((level) => (level.level < 0 ? 'the group' : `level ${level.level}`)).join(', ');
  return [
    `  All values of ${names} are equal, but their mean rounds to a neighbour of theirs. What remains is`,
    `  not 0: it is not dropped, and (deviation + ${show(e.levels[0]?.epsilon ?? 0)}) makes it large.`,
  ];
}

function sentence(e: RowExplanation): string {
  if (e.missing.length > 0) return `Cannot be verified: the batch lacks ${e.missing.join(', ')}.`;
  if (e.unbounded !== undefined) return `Cannot be verified: there are no error bounds for ${e.unbounded}.`;
  if (e.outcome === 'unverifiable') return 'Cannot be verified: values this large may overflow on the way.';
  if (e.true === null) return 'The formula gives no finite number: a NaN or an infinity is among its inputs.';
  if (e.reported === null)
    return e.score === null && e.stepReturn === null
      ? 'The reported value is NaN, as the reward of the row is; the formula gives a finite number all the same.'
      : 'The reported value is NaN, and the formula gives a finite number.';
  const off = Math.abs(e.reported - e.true);
  const far = `${show(off)}${e.true === 0 ? '' : ` (${percent(off / Math.abs(e.true))})`} from the true value`;
  if (e.outcome === 'exact') return 'The reported value is what the formula gives.';
  if (e.outcome === 'rounding')
    return `The reported value is ${far}; ${e.precision} rounding alone can do that.`;
  const inside = e.interval !== null && e.reported >= e.interval.low && e.reported <= e.interval.high;
  const why = inside
    ? `the values ${e.precision} can give within that interval do not include it`
    : `no ${e.precision} evaluation of the formula gives it`;
  return `The reported value is ${far}; ${why}.`;
}

function levelLines(level: ExplainedLevel, e: RowExplanation): string[] {
  const name = level.level < 0 ? 'Group' : `Level ${level.level}`;
  const head = `${name}: ${level.title}`;
  if (level.size === 0) return [`${head}. None: ${level.dropped?.text ?? ''}.`];
  const rows = plural(level.size, 'row');
  const fate = level.dropped === null ? `weight ${show(level.weight)}` : `dropped, ${level.dropped.text}`;
  const lines = [`${head}. ${rows}, ${fate}.`];
  const before = level.states.slice(1);
  if (before.length > 0) lines.push(...before.map((state, i) => `  ${i + 1} before  ${label(state)}`));
  if (level.size === 1 && level.dropped !== null) return lines;
  // The level of a chain describes the group only: its stages compute the value.
  return [...lines, ...memberLines(level, e), ...(e.stages === undefined ? formulaLines(level) : [])];
}

function memberLines(level: ExplainedLevel, e: RowExplanation): string[] {
  const at = level.members.findIndex((member) => member.row === e.row);
  const shown = level.members.slice(0, SHOWN_MEMBERS);
  const own = level.members[at];
  if (own !== undefined && at >= SHOWN_MEMBERS) shown[SHOWN_MEMBERS - 1] = own;
  const width = Math.max(10, ...shown.map((member) => clip(member.trajectory).length));
  const line = (row: string, trajectory: string, step: string, value: string): string =>
    `  ${row.padStart(8)}  ${trajectory.padEnd(width)}  ${step.padStart(5)}  ${value.padStart(Math.max(12, level.valueName.length))}`;
  const lines = [line('row', 'trajectory', 'step', level.valueName)];
  for (const member of shown) {
    const mark = member.row === e.row ? '  <' : '';
    const text = line(String(member.row), clip(member.trajectory), String(member.step), show(member.value));
    lines.push(`${text}${mark}`);
  }
  if (level.size > shown.length) lines.push(`  ${'…'.padStart(8)}  and ${level.size - shown.length} more`);
  return lines;
}

function formulaLines(level: ExplainedLevel): string[] {
  if (level.advantage === null || level.mean === null) return ['  a NaN or an infinity is among them'];
  const value = show(level.own);
  const mean = level.mean < 0 ? `(${show(level.mean)})` : show(level.mean);
  const n = level.size;
  if (level.deviation !== null) {
    const by = `(${show(level.deviation)} + ${show(level.epsilon)})`;
    return [
      `  mean ${show(level.mean)}, deviation ${show(level.deviation)}`,
      `  (${value} - ${mean}) / ${by} = ${show(level.advantage)}`,
    ];
  }
  const leaveOneOut = level.norm === 'leave-one-out' && n > 1;
  const factor = leaveOneOut ? `${n}/${n - 1} * ` : '';
  return [`  mean ${show(level.mean)}`, `  ${factor}(${value} - ${mean}) = ${show(level.advantage)}`];
}

/** A chain stage by stage; otherwise how the levels add up. */
function resultLines(e: RowExplanation): string[] {
  if (e.stages !== undefined) {
    return ['', 'Stages:', ...e.stages.map(({ text, value }) => `  ${text.padEnd(72)} ${show(value)}`)];
  }
  return e.levels.length === 0 ? [] : ['', ...aggregateLines(e)];
}

function aggregateLines(e: RowExplanation): string[] {
  if (e.true === null) return ['Together: no finite number.'];
  const kept = e.levels.filter((level) => level.share !== 0);
  if (kept.length === 0) return ['Together: nothing is left to compare, so the advantage is 0.'];
  const terms = kept.map((level) => `${show(level.weight)} * ${show(level.advantage)}`).join(' + ');
  if (e.combination === 'sum')
    return wrap(`Together: ${kept.length === 1 ? '' : `${terms} = `}${show(e.true)}`);
  const weights = kept.map((level) => show(level.weight)).join(' + ');
  return wrap(`Together: (${terms}) / (${weights} + ${show(e.weightEpsilon)}) = ${show(e.true)}`);
}

/** Breaks a line in front of a sign, so that none is longer than {@link WIDTH}. */
function wrap(line: string): string[] {
  const lines: string[] = [];
  let current = '';
  for (const piece of line.split(/ (?=[+/=] )/)) {
    if (current === '') current = piece;
    else if (current.length + 1 + piece.length <= WIDTH) current += ` ${piece}`;
    else {
      lines.push(current);
      current = `  ${piece}`;
    }
  }
  return [...lines, current];
}

/** Seven significant digits: what float32 holds. */
function show(x: number | null): string {
  if (x === null) return 'none';
  if (x === 0 || Number.isInteger(x)) return String(x);
  const size = Math.abs(x);
  if (size < 1e-4 || size >= 1e9) return x.toExponential(6).replace(/\.?0+e/, 'e');
  return significant(x, 7);
}

function label(text: string): string {
  const flat = oneLine(text);
  return flat.length <= LABEL_WIDTH ? flat : `${flat.slice(0, LABEL_WIDTH - 1)}…`;
}

function clip(text: string): string {
  const flat = oneLine(text);
  return flat.length <= 24 ? flat : `${flat.slice(0, 11)}…${flat.slice(-12)}`;
}

/** Foreign text in one line. */
function oneLine(text: string): string {
  return inert(text.replace(/\s+/g, ' '));
}
