import type { BatchRows } from 'echelon-client/calls';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { channels, colour, paint } from '../app/theme.ts';
import { type HeatColumn, heatColumns, linesOf, pixelsOf, SCALE } from '../models/heat-map.ts';
import { OUTCOMES } from '../models/outcomes.ts';
import { count, exactly, inert } from '../models/words.ts';
import { Outcome } from '../parts/marks.tsx';

interface HeatMapProps {
  rows: BatchRows;
  /** Positions of the shown rows, in their order. */
  order: number[];
  /** Position of the chosen row; -1 if none is. */
  chosen: number;
  onChoose: (at: number) => void;
}

const HEIGHT = 560;
/** Pixels of the mark of the outcome, left of the cells. */
const GUTTER = 18;

/** Rows by levels: what each level says of each row, and the advantage that comes of it. */
export function HeatMap({ rows, order, chosen, onChoose }: HeatMapProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [hover, setHover] = useState<number>();
  const columns = useMemo(() => heatColumns(rows), [rows]);
  const lines = useMemo(() => linesOf(rows, order, HEIGHT), [rows, order]);
  const theme = paint.value;
  useEffect(
    () => draw(canvas.current!, { rows, columns, lines, chosen }),
    [rows, columns, lines, chosen, theme],
  );
  const at = (event: MouseEvent) => {
    const { top, height } = canvas.current!.getBoundingClientRect();
    const line = Math.floor(((event.clientY - top) / height) * lines.length);
    return lines[Math.max(0, Math.min(lines.length - 1, line))];
  };
  const move = (by: number) => {
    const now = order.indexOf(chosen);
    const next = order[Math.max(0, Math.min(order.length - 1, now < 0 ? 0 : now + by))];
    if (next !== undefined) onChoose(next);
  };
  const onKey = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20, j: 1, k: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    move(by);
  };
  const each = order.length / Math.max(1, lines.length);
  return (
    <div class="heat">
      <div class="heat-columns muted" aria-hidden="true">
        {columns.map(({ name, title }) => (
          <span key={name} title={title}>
            {name}
          </span>
        ))}
      </div>
      <canvas
        ref={canvas}
        tabIndex={0}
        role="application"
        aria-roledescription="heat map"
        aria-label={`Heat map of ${count(order.length)} rows by ${columns.length} columns. Up and down choose a row; the table beside it has the same rows.`}
        onClick={(event) => {
          const row = at(event);
          if (row !== undefined) onChoose(row);
        }}
        onMouseMove={(event) => setHover(at(event))}
        onMouseLeave={() => setHover(undefined)}
        onKeyDown={onKey}
      />
      <Scale />
      <p class="muted heat-note small">
        {hover !== undefined
          ? describe(rows, columns, hover)
          : each > 1
            ? `Each line is ${each.toFixed(1)} rows and shows the worst of them.`
            : 'A line is a row, sorted by group, trajectory and step. Click one for its explanation.'}
      </p>
    </div>
  );
}

/** What the colours of the cells and the marks beside them say. */
function Scale() {
  return (
    <>
      <div
        class="heat-scale muted"
        role="img"
        aria-label={`Colours from ${-SCALE} to ${SCALE}; hatched: dropped`}
      >
        <span>−{SCALE}</span>
        <span class="ramp" />
        <span>+{SCALE}</span>
        <span class="dropped" /> <span>dropped</span>
      </div>
      <p class="legend muted">
        At the left edge:
        {OUTCOMES.map((outcome) => (
          <Outcome key={outcome} outcome={outcome} />
        ))}
        A line across: the next group.
      </p>
    </>
  );
}

function describe(rows: BatchRows, columns: HeatColumn[], at: number): string {
  const values = columns.map(
    ({ name, values, isDropped }) => `${name} ${isDropped(at) ? 'dropped' : exactly(values[at])}`,
  );
  const trajectory = inert(rows.trajectories[rows.trajectory[at]!] ?? '');
  return `row ${rows.row[at]}, ${trajectory} step ${rows.step[at]}, ${rows.outcome[at]}: ${values.join(', ')}`;
}

interface Picture {
  rows: BatchRows;
  columns: HeatColumn[];
  lines: number[];
  chosen: number;
}

function draw(canvas: HTMLCanvasElement, { rows, columns, lines, chosen }: Picture): void {
  const unit = devicePixelRatio;
  const [width, height] = [canvas.clientWidth * unit, HEIGHT * unit];
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext('2d')!;
  if (lines.length === 0) return;
  const palette = {
    positive: channels('positive'),
    negative: channels('negative'),
    zero: channels('surface'),
    none: channels('pending-fill'),
  };
  const small = new OffscreenCanvas(columns.length, lines.length);
  const image = new ImageData(pixelsOf(columns, lines, palette), columns.length, lines.length);
  small.getContext('2d')!.putImageData(image, 0, 0);
  context.imageSmoothingEnabled = false;
  const left = GUTTER * unit;
  context.drawImage(small, left, 0, width - left, height);
  drawOutcomes(context, { rows, lines, high: height / lines.length });
  drawLines(context, { rows, columns, lines, left, width, height });
  const line = lines.indexOf(chosen);
  if (line >= 0) {
    const high = Math.max(3 * unit, height / lines.length);
    context.strokeStyle = colour('accent');
    context.lineWidth = 2 * unit;
    context.strokeRect(unit, (line * height) / lines.length - unit, width - 2 * unit, high + 2 * unit);
  }
}

/** The outcome beside each line: full width for wrong, less for rounding and unverifiable, a hair for exact. */
function drawOutcomes(
  context: CanvasRenderingContext2D,
  { rows, lines, high }: { rows: BatchRows; lines: number[]; high: number },
): void {
  const widths = { exact: 3, rounding: 7, unverifiable: 10, wrong: 14 };
  for (const [line, at] of lines.entries()) {
    const outcome = rows.outcome[at]!;
    context.fillStyle = colour(`${outcome}-fill`);
    context.fillRect(
      0,
      line * high,
      widths[outcome] * devicePixelRatio,
      Math.max(1, high - (high > 4 ? 1 : 0)),
    );
  }
}

function drawLines(
  context: CanvasRenderingContext2D,
  {
    rows,
    columns,
    lines,
    left,
    width,
    height,
  }: Omit<Picture, 'chosen'> & { left: number; width: number; height: number },
): void {
  context.fillStyle = colour('surface');
  const cell = (width - left) / columns.length;
  for (let column = 1; column < columns.length; column++) {
    const wide = columns[column]!.name === 'true' ? 6 : 1;
    context.fillRect(left + column * cell - wide / 2, 0, wide, height);
  }
  context.fillStyle = colour('text');
  for (let line = 1; line < lines.length; line++) {
    if (rows.group[lines[line]!] !== rows.group[lines[line - 1]!])
      context.fillRect(left, (line * height) / lines.length, width - left, Math.max(1, devicePixelRatio / 2));
  }
}
