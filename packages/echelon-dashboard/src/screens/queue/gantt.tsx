import { counted } from 'command-kit/plural';
import type { Answer } from 'echelon-client/calls';
import { shortNode } from 'echelon-client/short-node';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { place } from '../../app/router.ts';
import { now as serverNow } from '../../app/server-clock.ts';
import { may } from '../../app/session.ts';
import {
  type Axis,
  axisAround,
  type Bar,
  coloursOf,
  factsOf,
  type Lane,
  lanesOf,
  neighbour,
  placeOn,
  ticksOf,
  ticksThatFit,
} from '../../models/gantt.ts';
import { groupsOf } from '../../models/now.ts';
import { clock, count, inert, withNames } from '../../models/words.ts';
import { Card } from '../../parts/card.tsx';
import { ClusterActions } from '../../parts/cluster-actions.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Choice } from '../../parts/filters.tsx';
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
  const now = serverNow();
  const of = { ...queue, allocated: allocations.items, queued: queue.items };
  const lanes = lanesOf(of, now);
  const bars = lanes.flatMap((lane) => lane.bars);
  const axis = axisAround(
    now,
    bars.flatMap(({ from, to, range }) => [from, to ?? from, range?.earliest ?? from]),
  );
  const by = place.value.query.get('colour') === 'project' ? 'project' : 'sweep';
  const { groupOf, colours } = coloursOf(bars, by);
  const look = (bar: Bar) => ({
    facts: inert(factsOf(bar, now, names)),
    colour: colours.get(groupOf(bar)) ?? 0,
  });
  return (
    <Card
      class="gantt"
      title="Nodes over time"
      end={
        <>
          <Choice label="Colour" name="colour" value={by} options={['sweep', 'project']} />
          <Legend />
        </>
      }
    >
      <Chart {...{ queue, lanes, axis, now, onChange, look }} />
      <Groups colours={colours} />
      <Unplaced items={queue.items.filter((one) => one.place === null)} names={names} />
      {allocations.total > allocations.items.length && (
        <p class="note muted small">
          {count(allocations.items.length)} of {count(allocations.total)} allocations are shown.
        </p>
      )}
      <Numbers lanes={lanes} />
    </Card>
  );
}

function Groups({ colours }: { colours: ReadonlyMap<string, number> }) {
  const shown = [...colours].filter(([, colour]) => colour > 0);
  return (
    <ul class="legend note" aria-label="Colours">
      {shown.map(([group, colour]) => (
        <li key={group}>
          <span class="sample" style={{ background: `var(--curve-${colour})` }} aria-hidden="true" />{' '}
          {inert(group)}
        </li>
      ))}
      {colours.size > shown.length && <li>{count(colours.size - shown.length)} others without a colour</li>}
    </ul>
  );
}

function Legend() {
  return (
    <ul class="legend" aria-label="Legend">
      <li>
        <span class="sample running" aria-hidden="true" /> running
      </li>
      <li>
        <span class="sample running leaving" aria-hidden="true" /> preempted
      </li>
      <li>
        <span class="sample queued" aria-hidden="true" /> estimated
      </li>
      <li>
        <span class="sample queued reserved" aria-hidden="true" /> reserved
      </li>
      <li>
        <span class="sample whisker" aria-hidden="true" /> earliest to latest, of the bar you point at
      </li>
    </ul>
  );
}

/** What is said of a bar, and the number of its colour; 0: none. */
type Look = (bar: Bar) => { facts: string; colour: number };

interface ChartProps {
  queue: Queue;
  lanes: Lane[];
  axis: Axis;
  now: number;
  onChange: () => void;
  look: Look;
}

function Chart({ queue, lanes, axis, now, onChange, look }: ChartProps) {
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
              .map(({ lane, at }, index, shownLanes) => (
                <LaneView
                  key={lane.node}
                  isFirstCpu={lane.gpusTotal === 0 && index > 0 && shownLanes[index - 1]!.lane.gpusTotal > 0}
                  {...{ lane, at, axis, now, stop, look, onActive: setActive }}
                />
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
            <strong>{inert(shown.name)}</strong> · {inert(shown.project)} · {look(shown).facts}
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
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => setWidth(box.current!.clientWidth));
  const ticks = ticksOf(axis, ticksFor(), -new Date(now).getTimezoneOffset() * 60_000);
  return (
    <div class="axis" aria-hidden="true">
      <div class="scale muted" ref={box}>
        {ticksThatFit(axis, ticks, now, width).map((at) => (
          <span key={at} class="tick" style={{ left: `${100 * placeOn(axis, at)}%` }}>
            {clock(at, now)}
          </span>
        ))}
        <span class="tick now" style={{ left: `${100 * placeOn(axis, now)}%` }}>
          now
        </span>
      </div>
    </div>
  );
}

interface LaneProps {
  lane: Lane;
  /** Whether the nodes above it have GPUs, and it has none. */
  isFirstCpu: boolean;
  at: number;
  axis: Axis;
  now: number;
  /** The bar that Tab reaches. */
  stop: readonly [number, number];
  look: Look;
  onActive: (bar: readonly [number, number]) => void;
}

const ROW = 26;

function LaneView({ lane, isFirstCpu, at, axis, now, stop, look, onActive }: LaneProps) {
  const { node, gpusInUse, gpusTotal, bars, rows } = lane;
  return (
    <div class={`lane ${isFirstCpu ? 'cpu' : ''}`}>
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
            {...look(bar)}
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
  colour: number;
  isStop: boolean;
  onActive: (bar: readonly [number, number]) => void;
}

function BarView({ bar, axis, id, facts, colour, isStop, onActive }: BarProps) {
  const { experiment, name, kind, isHead, from, to, range, row, item } = bar;
  const leaves = 'leavesAt' in item && item.leavesAt !== null;
  const [left, right] = [placeOn(axis, from), placeOn(axis, to ?? axis.to)];
  const top = `${row * ROW + 4}px`;
  const kinds = [
    kind,
    isHead && 'reserved',
    leaves && 'leaving',
    to === null && 'open',
    from < axis.from && 'cut',
  ].filter(Boolean);
  const [early, late] = range ? [placeOn(axis, range.earliest), placeOn(axis, range.latest)] : [0, 0];
  return (
    <>
      <a
        class={`bar ${kinds.join(' ')}`}
        href={`/experiments/${experiment}`}
        style={{
          top,
          left: `${100 * left}%`,
          width: `max(5px, ${100 * (right - left)}%)`,
          '--group': colour > 0 ? `var(--curve-${colour})` : undefined,
        }}
        title={`${inert(name)}: ${facts}`}
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
  const groups = groupsOf(items);
  return (
    <div class="unplaced line-of-parts small">
      <h3>Start not known</h3>
      <ul class="flat line-of-parts">
        {groups.slice(0, 12).map(({ name, first, count: size }) => (
          <li key={first.experiment}>
            <a
              href={`/experiments/${first.experiment}`}
              title={inert(withNames(first.noEstimate ?? '', names))}
            >
              {inert(name)}
            </a>
            {size > 1 && ` × ${count(size)}`}
          </li>
        ))}
        {groups.length > 12 && <li class="muted">and more, listed below</li>}
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
