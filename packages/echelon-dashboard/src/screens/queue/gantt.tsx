import type { Answer } from 'echelon-client/calls';
import { shortNode } from 'echelon-client/short-node';
import { counted } from 'echelon-verify/text/plural';
import { useRef, useState } from 'preact/hooks';
import { may } from '../../app/session.ts';
import {
  type Axis,
  axisAround,
  type Bar,
  factsOf,
  type Lane,
  lanesOf,
  neighbour,
  placeOn,
  ticksOf,
} from '../../models/gantt.ts';
import { clock, count, inert, withNames } from '../../models/words.ts';
import { Card } from '../../parts/card.tsx';
import { ClusterActions } from '../../parts/cluster-actions.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Clock } from '../../parts/marks.tsx';

type Queue = Answer<'get', '/v1/queues'>;
type Allocations = Answer<'get', '/v1/allocations'>;
type Queued = Queue['items'][number];

/** Idle nodes of a cluster that get a lane of their own; more are one line. */
const IDLE_SHOWN = 3;

interface GanttProps {
  queue: Queue;
  allocations: Allocations;
  names: ReadonlyMap<string, string>;
  onChange: () => void;
}

/** A lane for each node: its running experiments, and the queued ones that are expected to start there. */
export function Gantt({ queue, allocations, names, onChange }: GanttProps) {
  const now = Date.now();
  const of = { ...queue, allocated: allocations.items, queued: queue.items };
  const lanes = lanesOf(of, now);
  const bars = lanes.flatMap((lane) => lane.bars);
  const axis = axisAround(
    now,
    bars.flatMap(({ from, to, range }) => [from, to ?? from, range?.earliest ?? from]),
  );
  return (
    <Card class="gantt" title="Nodes over time" end={<Legend />}>
      <Chart {...{ queue, lanes, axis, now, onChange }} factsFor={(bar) => inert(factsOf(bar, now, names))} />
      <Unplaced items={queue.items.filter(({ place }) => place === null)} names={names} />
      {allocations.total > allocations.items.length && (
        <p class="note muted small">
          {count(allocations.items.length)} of {count(allocations.total)} allocations are shown.
        </p>
      )}
      <Numbers lanes={lanes} />
    </Card>
  );
}

function Legend() {
  return (
    <ul class="legend" aria-label="Legend">
      <li>
        <span class="sample running" aria-hidden="true" /> running
      </li>
      <li>
        <span class="sample queued" aria-hidden="true" /> estimated
      </li>
      <li>
        <span class="sample queued reserved" aria-hidden="true" /> reserved
      </li>
      <li>
        <span class="sample whisker" aria-hidden="true" /> earliest to latest
      </li>
    </ul>
  );
}

type FactsFor = (bar: Bar) => string;

interface ChartProps {
  queue: Queue;
  lanes: Lane[];
  axis: Axis;
  now: number;
  onChange: () => void;
  factsFor: FactsFor;
}

function Chart({ queue, lanes, axis, now, onChange, factsFor }: ChartProps) {
  const root = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState<readonly [number, number]>();
  const first = lanes.findIndex(({ bars }) => bars.length > 0);
  const stop = active && lanes[active[0]]?.bars[active[1]] ? active : ([first, 0] as const);
  const shown = active && lanes[active[0]]?.bars[active[1]];
  const onKeyDown = (event: KeyboardEvent) => {
    const next = neighbour(lanes, stop, event.key);
    if (next === undefined) return;
    event.preventDefault();
    root.current?.querySelector<HTMLElement>(`[data-bar="${next.join('-')}"]`)?.focus();
  };
  return (
    <div class="chart" ref={root} onKeyDown={onKeyDown}>
      <TimeAxis axis={axis} now={now} />
      {queue.clusters.map((cluster) => {
        const own = lanes
          .map((lane, at) => ({ lane, at }))
          .filter(({ lane }) => lane.cluster === cluster.name);
        const idle = own.filter(({ lane }) => lane.bars.length === 0);
        const isFolded = idle.length > IDLE_SHOWN;
        return (
          <div key={cluster.name} class="cluster" role="group" aria-label={`Cluster ${cluster.name}`}>
            <div class="cluster-head line-of-parts">
              <h3>
                <a href="/clusters">{cluster.name}</a>
              </h3>
              {!cluster.answering && <span class="badge s-error">not answering</span>}
              {cluster.draining && <span class="badge s-draining">draining</span>}
              {cluster.paused && <span class="badge s-paused">paused</span>}
              {may.value('admin') && (
                <span class="actions">
                  <ClusterActions {...{ cluster, onChange }} />
                </span>
              )}
            </div>
            {own
              .filter(({ lane }) => !isFolded || lane.bars.length > 0)
              .map(({ lane, at }) => (
                <LaneView key={lane.node} {...{ lane, at, axis, now, stop, factsFor, onActive: setActive }} />
              ))}
            {isFolded && (
              <p class="note muted small">{counted(idle.length, 'other node')} without an experiment.</p>
            )}
          </div>
        );
      })}
      <p class="facts-line small" aria-hidden="true">
        {shown ? (
          <>
            <strong>{inert(shown.name)}</strong> · {inert(shown.project)} · {factsFor(shown)}
          </>
        ) : (
          <span class="muted">
            Point at a bar for its times and reasons; with the keyboard, Tab to the chart and use the arrow
            keys.
          </span>
        )}
      </p>
    </div>
  );
}

/** Labels of the axis that fit beside one another. */
const ticksFor = () => (matchMedia('(width < 760px)').matches ? 4 : 8);

function TimeAxis({ axis, now }: { axis: Axis; now: number }) {
  const ticks = ticksOf(axis, ticksFor(), -new Date(now).getTimezoneOffset() * 60_000);
  const here = placeOn(axis, now);
  return (
    <div class="axis" aria-hidden="true">
      <div class="scale muted">
        {ticks
          .filter((at) => Math.abs(placeOn(axis, at) - here) > 0.05)
          .map((at) => (
            <span key={at} class="tick" style={{ left: `${100 * placeOn(axis, at)}%` }}>
              {clock(at, now)}
            </span>
          ))}
        <span class="tick now" style={{ left: `${100 * here}%` }}>
          now
        </span>
      </div>
    </div>
  );
}

interface LaneProps {
  lane: Lane;
  at: number;
  axis: Axis;
  now: number;
  /** The bar that Tab reaches. */
  stop: readonly [number, number];
  factsFor: FactsFor;
  onActive: (bar: readonly [number, number]) => void;
}

const ROW = 26;

function LaneView({ lane, at, axis, now, stop, factsFor, onActive }: LaneProps) {
  const { node, gpusInUse, gpusTotal, bars, rows } = lane;
  return (
    <div class="lane">
      <div class="lane-name">
        <span class="mono clip" title={node}>
          {shortNode(node)}
        </span>
        <span class="muted">
          {gpusTotal > 0 ? `${count(gpusInUse)} of ${counted(gpusTotal, 'GPU')} in use` : 'no GPU'}
        </span>
      </div>
      <div class="track" style={{ height: `${rows * ROW + 6}px` }}>
        <span class="now-line" style={{ left: `${100 * placeOn(axis, now)}%` }} />
        {bars.length === 0 && <span class="idle muted">idle</span>}
        {bars.map((bar, index) => (
          <BarView
            key={`${bar.experiment}${bar.kind}`}
            {...{ bar, axis, id: [at, index] as const, onActive }}
            facts={factsFor(bar)}
            isStop={stop[0] === at && stop[1] === index}
          />
        ))}
      </div>
    </div>
  );
}

interface BarProps {
  bar: Bar;
  axis: Axis;
  id: readonly [number, number];
  facts: string;
  isStop: boolean;
  onActive: (bar: readonly [number, number]) => void;
}

function BarView({ bar, axis, id, facts, isStop, onActive }: BarProps) {
  const { experiment, name, kind, isHead, from, to, range, row } = bar;
  const [left, right] = [placeOn(axis, from), placeOn(axis, to ?? axis.to)];
  const top = `${row * ROW + 4}px`;
  const kinds = [kind, isHead && 'reserved', to === null && 'open', from < axis.from && 'cut'].filter(
    Boolean,
  );
  const [early, late] = range ? [placeOn(axis, range.earliest), placeOn(axis, range.latest)] : [0, 0];
  return (
    <>
      <a
        class={`bar ${kinds.join(' ')}`}
        href={`/experiments/${experiment}`}
        style={{ top, left: `${100 * left}%`, width: `max(5px, ${100 * (right - left)}%)` }}
        tabIndex={isStop ? 0 : -1}
        data-bar={id.join('-')}
        aria-label={`${inert(name)}, ${facts}`}
        onMouseEnter={() => onActive(id)}
        onFocus={() => onActive(id)}
      >
        <span>{inert(name)}</span>
      </a>
      {late > early && (
        <span
          class="whisker"
          aria-hidden="true"
          style={{ top, left: `${100 * early}%`, width: `${100 * (late - early)}%` }}
        />
      )}
    </>
  );
}

/** Queued experiments that the chart cannot place. */
function Unplaced({ items, names }: { items: Queued[]; names: ReadonlyMap<string, string> }) {
  if (items.length === 0) return null;
  return (
    <div class="unplaced line-of-parts small">
      <h3>Start not known</h3>
      <ul class="flat line-of-parts">
        {items.slice(0, 12).map(({ experiment, name, noEstimate }) => (
          <li key={experiment}>
            <a href={`/experiments/${experiment}`} title={inert(withNames(noEstimate ?? '', names))}>
              {inert(name)}
            </a>
          </li>
        ))}
        {items.length > 12 && <li class="muted">and {count(items.length - 12)} more, listed below</li>}
      </ul>
    </div>
  );
}

/** The table behind the chart. */
function Numbers({ lanes }: { lanes: Lane[] }) {
  const bars = lanes.flatMap((lane) => lane.bars.map((bar) => ({ ...bar, lane })));
  return (
    <details class="in-numbers">
      <summary>In numbers</summary>
      <DataTable
        rows={bars}
        keyOf={({ lane, experiment, kind }) => `${lane.node}${experiment}${kind}`}
        columns={[
          {
            title: 'Node',
            cell: ({ lane }) => (
              <>
                {lane.cluster} <span class="mono">{shortNode(lane.node)}</span>
              </>
            ),
          },
          {
            title: 'Experiment',
            cell: ({ experiment, name }) => <a href={`/experiments/${experiment}`}>{inert(name)}</a>,
          },
          { title: 'State', cell: ({ kind }) => kind },
          { title: 'Start', cell: ({ from }) => <Clock at={from} /> },
          { title: 'End', cell: ({ to }) => <Clock at={to} /> },
          { title: 'Earliest', cell: ({ range }) => <Clock at={range?.earliest ?? null} /> },
          { title: 'Latest', cell: ({ range }) => <Clock at={range?.latest ?? null} /> },
        ]}
      />
      <p class="muted">Earliest and latest: the end of a running experiment, the start of a queued one.</p>
    </details>
  );
}
