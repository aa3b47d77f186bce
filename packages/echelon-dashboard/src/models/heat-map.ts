import type { BatchRows } from 'echelon-client/calls';
import type { Outcome } from './outcomes.ts';

/** A column of the heat map: a level, or the advantage as a whole. */
export interface HeatColumn {
  name: string;
  title: string;
  values: readonly (number | null)[];
  /** True where the level adds nothing to the row. */
  isDropped: (at: number) => boolean;
}

/** The scale of colours ends here, to both sides. */
export const SCALE = 2;

/** The columns from the group and the coarsest level to the finest, then the advantage as reported and as it should be. */
export function heatColumns(rows: BatchRows): HeatColumn[] {
  const levels = [...rows.levels].sort((a, b) => a.level - b.level);
  return [
    ...levels.map(({ level, advantage, dropped }) => ({
      name: level === -2 ? 'gain' : level < 0 ? 'group' : `k=${level}`,
      title:
        level < 0 ? 'the whole group' : level === 0 ? 'same state' : `same state and the ${level} before`,
      values: advantage,
      isDropped: (at: number) => dropped[at] !== null,
    })),
    { name: 'true', title: 'by the stated formula, in float64', values: rows.true, isDropped: () => false },
    { name: 'reported', title: 'as the trainer computed it', values: rows.reported, isDropped: () => false },
  ];
}

/** Which rows are shown. */
interface RowFilter {
  outcome?: Outcome | undefined;
  group?: string | undefined;
  trajectory?: string | undefined;
}

/** The positions of the rows that fit, sorted by group, trajectory and step. */
export function orderOf(rows: BatchRows, filter: RowFilter = {}): number[] {
  const fits = (at: number) =>
    (filter.outcome === undefined || rows.outcome[at] === filter.outcome) &&
    (filter.group === undefined || rows.groups[rows.group[at]!] === filter.group) &&
    (filter.trajectory === undefined || rows.trajectories[rows.trajectory[at]!] === filter.trajectory);
  return rows.row
    .map((_row, at) => at)
    .filter(fits)
    .sort(
      (a, b) =>
        rows.group[a]! - rows.group[b]! ||
        rows.trajectory[a]! - rows.trajectory[b]! ||
        rows.step[a]! - rows.step[b]! ||
        a - b,
    );
}

const WORSE: Record<Outcome, number> = { exact: 0, rounding: 1, unverifiable: 2, wrong: 3 };

/** For each line of the picture the position of the row that it shows: of several rows, the one with the worst outcome. */
export function linesOf(rows: BatchRows, order: readonly number[], height: number): number[] {
  const lines = Math.min(height, order.length);
  return Array.from({ length: lines }, (_, line) => {
    const from = Math.floor((line * order.length) / lines);
    const to = Math.max(from + 1, Math.floor(((line + 1) * order.length) / lines));
    let shown = order[from]!;
    for (const at of order.slice(from + 1, to))
      if (WORSE[rows.outcome[at]!] > WORSE[rows.outcome[shown]!]) shown = at;
    return shown;
  });
}

type Rgb = readonly [number, number, number];

/** Colours of the picture. */
interface Palette {
  positive: Rgb;
  negative: Rgb;
  zero: Rgb;
  none: Rgb;
}

/** The picture, four bytes for each cell, line by line: the stronger the colour, the farther from 0. Dropped levels are pale. */
export function pixelsOf(
  columns: readonly HeatColumn[],
  lines: readonly number[],
  palette: Palette,
): Uint8ClampedArray<ArrayBuffer> {
  const bytes = new Uint8ClampedArray(columns.length * lines.length * 4);
  let next = 0;
  for (const at of lines) {
    for (const { values, isDropped } of columns) {
      const value = values[at] ?? null;
      const [r, g, b] = value === null || isDropped(at) ? palette.none : tint(value, palette);
      bytes[next] = r;
      bytes[next + 1] = g;
      bytes[next + 2] = b;
      bytes[next + 3] = 255;
      next += 4;
    }
  }
  return bytes;
}

function tint(value: number, { positive, negative, zero }: Palette): Rgb {
  const end = value < 0 ? negative : positive;
  // The root makes small advantages visible beside large ones.
  const share = Math.sqrt(Math.min(1, Math.abs(value) / SCALE));
  const mix = (at: 0 | 1 | 2) => zero[at] + (end[at] - zero[at]) * share;
  return [mix(0), mix(1), mix(2)];
}
