import { restartsOf } from 'echelon-client/restarts';
import 'uplot/dist/uPlot.min.css';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { colour, paint } from '../app/theme.ts';
import type { CurveData } from '../models/curves.ts';
import type { Outcome } from '../models/outcomes.ts';
import { inert } from '../models/words.ts';

/** A batch under the curve: its step and its worst outcome; null if it has no report yet. */
export interface StripCell {
  step: number;
  batch: number;
  attempt: number;
  worst: Outcome | null;
}

interface CurveProps {
  data: CurveData;
  strip: StripCell[];
  label: string;
  /** Whether the values are on a logarithmic scale; those that are not positive are not shown. */
  isLog?: boolean;
  onPick?: ((cell: StripCell) => void) | undefined;
  /** Called with the steps that the user selects by dragging; undefined: all, after a double click. */
  onZoom?: ((steps: { from: number; to: number } | undefined) => void) | undefined;
}

const STRIP = 10;

/** One or several curves over steps with the range of their points, and under them one cell for each batch. */
export function Curve({ data: given, strip, label, isLog = false, onPick, onZoom }: CurveProps) {
  const data = isLog ? positive(given) : given;
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const latest = useRef<Latest>({ strip, onPick, onZoom });
  latest.current = { strip, onPick, onZoom };
  const theme = paint.value;
  const shape = `${data.series.map(({ name }) => name).join('\n')} ${theme} ${isLog} ${data.axis}`;
  useEffect(() => {
    const element = box.current!;
    const made = new uPlot(
      optionsOf(data, latest, { width: element.clientWidth, isLog }),
      data.columns as uPlot.AlignedData,
      element,
    );
    plot.current = made;
    const fit = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }));
    fit.observe(element);
    return () => {
      fit.disconnect();
      made.destroy();
      plot.current = undefined;
    };
  }, [shape]);
  useEffect(() => {
    if (plot.current?.data !== data.columns) plot.current?.setData(data.columns as uPlot.AlignedData);
  }, [given]);
  useEffect(() => plot.current?.redraw(false), [strip]);
  return <div class="curve" ref={box} role="img" aria-label={label} />;
}

const positive = ({ columns, ...data }: CurveData): CurveData => ({
  ...data,
  columns: columns.map((column, at) =>
    at === 0 ? column : column.map((x) => (x !== null && x > 0 ? x : null)),
  ),
});

const HEIGHT = 190;
const INCREMENTS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].flatMap((power) =>
  [1, 2, 5].map((digit) => digit * 10 ** power),
);

type Latest = Pick<CurveProps, 'strip' | 'onPick' | 'onZoom'>;

function optionsOf(
  data: CurveData,
  latest: { current: Latest },
  { width, isLog }: { width: number; isLog: boolean },
): uPlot.Options {
  const axis = {
    stroke: colour('muted'),
    grid: { stroke: colour('line'), width: 1 },
    ticks: { stroke: colour('line'), width: 1, size: 4 },
    font: '11px system-ui, sans-serif',
  };
  return {
    width,
    height: HEIGHT,
    padding: [8, 18, 0, 0],
    legend: { show: data.series.length > 1, live: true },
    cursor: {
      sync: { key: data.axis },
      drag: { x: true, y: false },
      points: { size: 6 },
      bind: {
        click: (self) => () => {
          pick(self, latest.current);
          return null;
        },
        dblclick: (_self, _target, reset) => (event) => {
          if (latest.current.onZoom === undefined) reset(event);
          else latest.current.onZoom(undefined);
          return null;
        },
      },
    },
    scales: { x: { time: data.axis === 'time', range: rangeOf(data.axis) }, y: { distr: isLog ? 3 : 1 } },
    axes: [
      {
        ...axis,
        gap: STRIP + 8,
        size: STRIP + (data.axis === 'time' ? 44 : 32),
        // Steps are whole numbers.
        ...(data.axis === 'step' && { incrs: INCREMENTS }),
        ...(data.axis === 'time' && { values: timesOf }),
      },
      {
        ...axis,
        size: 52,
        values: (_self, ticks) => ticks.map((tick: number | null) => (tick === null ? '' : short(tick))),
      },
    ],
    series: [
      { label: data.axis },
      ...data.series.flatMap(({ name }, at) => [
        {
          label: inert(name),
          stroke: colour(`curve-${(at % 5) + 1}`),
          width: 1.5,
          points: { show: data.columns[0]!.length < 40, size: 4 },
          spanGaps: false,
          value: (_self: uPlot, value: number | null) => (value === null ? '–' : short(value)),
        },
        { show: true, label: `${name} (max)`, stroke: 'transparent', points: { show: false }, class: 'band' },
        { show: true, label: `${name} (min)`, stroke: 'transparent', points: { show: false }, class: 'band' },
      ]),
    ],
    bands: data.series.map((_one, at) => ({
      series: [at * 3 + 2, at * 3 + 3] as [number, number],
      fill: `color-mix(in srgb, ${colour(`curve-${(at % 5) + 1}`)} 16%, transparent)`,
    })),
    hooks: {
      draw: [
        (self) => drawStrip(self, latest.current.strip),
        (self) => drawRestarts(self, latest.current.strip),
      ],
      setSelect: [(self) => zoom(self, latest.current)],
    },
  };
}

/** Room beside a single point, in units of the axis. */
const BESIDE = { step: 1, time: 60, hours: 1 / 60 };

const rangeOf =
  (axis: CurveData['axis']) =>
  (_self: uPlot, min: number, max: number): [number, number] =>
    min === max ? [min - BESIDE[axis], max + BESIDE[axis]] : [min, max];

/** The hour of each tick, and the day under the first tick of each day; `every` (s): between two ticks. */
function timesOf(_self: uPlot, ticks: number[], _axis: number, _space: number, every: number): string[] {
  const days = ticks.map((tick) =>
    new Date(tick * 1000).toLocaleDateString('en-GB', { day: 'numeric', month: 'short' }),
  );
  if (every >= 86_400) return days;
  const seconds = every < 60 ? ({ second: '2-digit' } as const) : {};
  return ticks.map((tick, at) => {
    const time = { hour: '2-digit', minute: '2-digit', ...seconds } as const;
    const hour = new Date(tick * 1000).toLocaleTimeString('en-GB', time);
    return days[at] === days[at - 1] ? hour : `${hour}\n${days[at]}`;
  });
}

const short = (x: number) =>
  Math.abs(x) >= 1e5 || (x !== 0 && Math.abs(x) < 1e-3)
    ? x.toExponential(1)
    : String(Number(x.toPrecision(4)));

function drawStrip(self: uPlot, strip: StripCell[]): void {
  const { ctx, bbox } = self;
  const unit = devicePixelRatio;
  const top = bbox.top + bbox.height + 5 * unit;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, top, bbox.width, STRIP * unit);
  ctx.clip();
  const width =
    strip.length < 2 ? unit * 12 : Math.abs(self.valToPos(1, 'x', true) - self.valToPos(0, 'x', true));
  // Narrow cells overlap: the worst are drawn last, so that none is hidden.
  for (const outcome of [null, 'exact', 'rounding', 'unverifiable', 'wrong'] as const) {
    ctx.fillStyle = colour(outcome === null ? 'pending-fill' : `${outcome}-fill`);
    for (const cell of strip) {
      if (cell.worst !== outcome) continue;
      const at = self.valToPos(cell.step, 'x', true);
      const wide = Math.max(unit * 2, width - unit);
      const high = outcome === 'wrong' ? STRIP : outcome === 'exact' ? STRIP - 4 : STRIP - 2;
      ctx.fillRect(at - wide / 2, top + ((STRIP - high) / 2) * unit, wide, high * unit);
    }
  }
  ctx.restore();
}

/** A line at the first step of each attempt after the first, with its number. */
function drawRestarts(self: uPlot, strip: StripCell[]): void {
  const { ctx, bbox } = self;
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = colour('muted');
  ctx.font = `${10 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.textAlign = 'left';
  ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
  for (const { attempt, step } of restartsOf(strip)) {
    const at = self.valToPos(step, 'x', true);
    if (at < bbox.left || at > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(at, bbox.top);
    ctx.lineTo(at, bbox.top + bbox.height);
    ctx.stroke();
    ctx.fillText(`attempt ${attempt}`, at + 4 * devicePixelRatio, bbox.top + 10 * devicePixelRatio);
  }
  ctx.restore();
}

/** The present points are scaled at once; the chart of the selected steps replaces them when it is there. */
function zoom(self: uPlot, { onZoom }: Latest): void {
  const { left, width } = self.select;
  if (width === 0 || onZoom === undefined) return;
  const [from, to] = [self.posToVal(left, 'x'), self.posToVal(left + width, 'x')];
  onZoom({ from: Math.max(0, Math.floor(from)), to: Math.max(0, Math.ceil(to)) });
}

function pick(self: uPlot, { strip, onPick }: Latest): void {
  const { left } = self.cursor;
  if (left === undefined || left === null || left < 0 || onPick === undefined || strip.length === 0) return;
  const step = self.posToVal(left, 'x');
  onPick(strip.reduce((a, b) => (Math.abs(b.step - step) < Math.abs(a.step - step) ? b : a)));
}
