import { withoutControls } from 'command-kit/colors';
import { counted } from 'command-kit/plural';
import type { Answer } from 'echelon-client/calls';
import { metricsFinding } from 'echelon-client/metrics-finding';
import { useMemo, useRef } from 'preact/hooks';
import { api } from '../../app/api.ts';
import { useGet, useResource } from '../../app/resource.ts';
import { navigate, place, setQuery } from '../../app/router.ts';
import { Curve, type StripCell } from '../../charts/curve.tsx';
import {
  type Axis,
  type CurveData,
  chooseMetrics,
  csvOf,
  curvesOf,
  grouped,
  namesLike,
  placeText,
  reductionOf,
  smoothed,
} from '../../models/curves.ts';
import { type Detail, isFinal } from '../../models/experiments.ts';
import { worstOf } from '../../models/outcomes.ts';
import type { ListedBatch } from '../../models/strip.ts';
import { count, figure, inert } from '../../models/words.ts';
import { Card } from '../../parts/card.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Choice, Search } from '../../parts/filters.tsx';
import { FindExperiment } from '../../parts/find-experiment.tsx';
import { Await, Empty } from '../../parts/states.tsx';

const RESOLUTION = 500;

interface CurvesProps {
  experiment: Detail;
  batches: ListedBatch[];
  tick: number;
}

type Metric = Answer<'get', '/v1/experiments/{id}/metrics/names'>['items'][number];

/** The curves of chosen metrics, each over the outcomes of the batches it was trained on. */
export function Curves({ experiment, batches, tick }: CurvesProps) {
  const path = { id: experiment.id };
  const names = useGet('/v1/experiments/{id}/metrics/names', { path }, tick);
  return (
    <Await of={names}>
      {({ items }) =>
        items.length === 0 ? (
          <NoMetrics experiment={experiment} />
        ) : (
          <Charts {...{ experiment, batches, tick }} metrics={items} />
        )
      }
    </Await>
  );
}

function NoMetrics({ experiment: { id, state, verification } }: { experiment: Detail }) {
  if (!isFinal(state))
    return (
      <Empty title="No metrics yet">
        <p>
          Curves appear when the training reports its first metrics. Until then, read its{' '}
          <a href={`/experiments/${id}?tab=logs`}>logs</a>.
        </p>
      </Empty>
    );
  return (
    <Empty title="This run recorded no metrics">
      <MetricsFinding id={id} />
      <p>
        It can show its <a href={`/experiments/${id}?tab=logs`}>logs</a>, its{' '}
        <a href={`/experiments/${id}?tab=attempts`}>attempts</a>
        {verification.batches > 0 && (
          <>
            , its <a href={`/experiments/${id}?tab=verification`}>{count(verification.batches)} batches</a>
          </>
        )}{' '}
        and its <a href={`/experiments/${id}?tab=spec`}>spec</a>.
      </p>
    </Empty>
  );
}

function MetricsFinding({ id }: { id: string }) {
  const { data } = useResource((signal) => metricsFinding(api, id, signal), [id]);
  return data === undefined ? null : <p>{withoutControls(data)}</p>;
}

/** Curves that a search shows at once. */
const MAX_FOUND = 12;
const SMOOTHINGS = ['0.6', '0.9', '0.98'];
const AXES: readonly Axis[] = ['step', 'time', 'hours'];
const NONE: StripCell[] = [];

function Charts({ experiment, batches, tick, metrics }: CurvesProps & { metrics: readonly Metric[] }) {
  const names = useMemo(() => metrics.map(({ name }) => name), [metrics]);
  const { query } = place.value;
  const match = query.get('match') ?? '';
  const found = match === '' ? [] : namesLike(names, match);
  const asked = query.getAll('metric').filter((name) => names.includes(name));
  const chosen = match !== '' ? found.slice(0, MAX_FOUND) : asked.length > 0 ? asked : chooseMetrics(names);
  const other = query.get('with') || undefined;
  const steps = stepsOf(query);
  const experiments = other === undefined ? [experiment.id] : [experiment.id, other];
  const asks = {
    experiments,
    names: chosen.length > 0 ? chosen : ['none'],
    ...steps,
    resolution: RESOLUTION,
  };
  const charts = useGet('/v1/metrics', { query: asks }, tick);
  const chart = { ...charts, data: charts.data?.items };
  // The points of the last steps stay until those of the next are there.
  const last = useRef(chart);
  if (chart.data !== undefined || chart.failure !== undefined) last.current = chart;
  const zoom = (to: { from: number; to: number } | undefined) =>
    setQuery({ from: to?.from.toString(), to: to?.to.toString() });
  const strip = useMemo(() => batches.map(toCell), [batches]);
  const drop = (name: string) => setQuery({ metric: chosen.filter((one) => one !== name) });
  const axis = AXES.find((one) => one === query.get('over')) ?? 'step';
  const look = { weight: Number(query.get('smooth')), isLog: query.get('log') === '1' };
  return (
    <>
      <div class="toolbar">
        <Search
          data-filter
          label="Show metrics that contain a text or match a regular expression"
          hint="Metrics: text or regex…   /"
          name="match"
          value={match}
        />
        {match === '' && (
          <Choice
            label="Add"
            none="a metric"
            options={grouped(names.filter((name) => !chosen.includes(name)))}
            onChoose={(name) => setQuery({ metric: [...chosen, name] })}
          />
        )}
        <Choice
          label="Smooth"
          name="smooth"
          value={query.get('smooth') ?? ''}
          options={SMOOTHINGS}
          none="not"
        />
        <Choice
          label="Over"
          name="over"
          value={axis === 'step' ? '' : axis}
          options={AXES.slice(1)}
          none="step"
        />
        <button
          type="button"
          aria-pressed={look.isLog}
          onClick={() => setQuery({ log: look.isLog ? undefined : '1' })}
        >
          Log scale
        </button>
        <FindExperiment
          label="Compare with"
          not={[experiment.id]}
          onChoose={(id) => setQuery({ with: id })}
        />
        {other !== undefined && (
          <button type="button" class="link" onClick={() => setQuery({ with: undefined })}>
            Without {other}
          </button>
        )}
        {steps.from !== undefined && (
          <button type="button" class="link" onClick={() => zoom(undefined)}>
            Steps {count(steps.from)} to {count(steps.to)}: show all
          </button>
        )}
        <span class="muted end">
          {chosen.length} of {match === '' ? names.length : `${found.length} found`} metrics
        </span>
      </div>
      {match !== '' && found.length === 0 && <Empty title="No metric matches" />}
      <Await of={last.current}>
        {(items) => (
          <div class="charts">
            {chosen.map((name) => (
              <Chart
                key={name}
                name={name}
                data={curvesOf(
                  items.flatMap(({ experiment: of, series }) =>
                    series
                      .filter((one) => one.name === name)
                      .map((one) => ({ ...one, name: other === undefined ? name : of })),
                  ),
                  axis,
                )}
                {...{ experiment, look }}
                newest={metrics.find((one) => one.name === name)?.last}
                // Batches and the zoom of the API have steps only.
                strip={axis === 'step' ? strip : NONE}
                onZoom={axis === 'step' ? zoom : undefined}
                onDrop={match === '' && chosen.length > 1 ? () => drop(name) : undefined}
              />
            ))}
          </div>
        )}
      </Await>
    </>
  );
}

/** The steps that the address asks for; the API sends up to 500 points of them, so a narrow range is whole. */
function stepsOf(query: URLSearchParams): { from: number; to: number } | { from?: never; to?: never } {
  const [from, to] = [Number(query.get('from')), Number(query.get('to'))];
  return Number.isInteger(from) && Number.isInteger(to) && from >= 0 && to > from ? { from, to } : {};
}

const toCell = ({ attempt, batch, step, verification }: ListedBatch): StripCell => ({
  attempt,
  batch,
  step,
  worst: verification === null ? null : worstOf(verification),
});

interface ChartProps {
  name: string;
  /** The value that was recorded last, as the command line shows it, whatever part of the curve is drawn. */
  newest: Metric['last'] | undefined;
  data: CurveData;
  strip: StripCell[];
  experiment: Detail;
  look: { weight: number; isLog: boolean };
  onZoom: ((steps: { from: number; to: number } | undefined) => void) | undefined;
  onDrop: (() => void) | undefined;
}

function Chart({ name, newest, data, strip, experiment, look, onZoom, onDrop }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const [steps = [], means = [], maxima = [], minima = []] = data.columns;
  const reduced = reductionOf(data);
  return (
    <Card
      label={inert(name)}
      title={
        <>
          <h2 class="mono clip">{inert(name)}</h2>
          <strong title="newest value">{figure(newest)}</strong>
        </>
      }
      end={
        onDrop && (
          <button type="button" class="link" aria-label={`Remove the curve ${inert(name)}`} onClick={onDrop}>
            Remove
          </button>
        )
      }
    >
      <div ref={box}>
        {steps.length === 0 ? (
          <Empty
            title={
              data.axis === 'step'
                ? 'No value of these steps is stored'
                : 'These values were recorded without a time'
            }
          />
        ) : (
          <Curve
            data={smoothed(data, look.weight)}
            isLog={look.isLog}
            strip={strip}
            label={`${inert(name)} over ${counted(steps.length, data.axis === 'step' ? 'step' : 'point')}; newest ${figure(newest)}. A table follows.`}
            onPick={({ attempt, batch }) =>
              navigate(`/experiments/${experiment.id}/batches/${attempt}/${batch}`)
            }
            onZoom={onZoom}
          />
        )}
      </div>
      <details class="in-numbers">
        <summary>Table, CSV, PNG{reduced && <span class="muted"> · {reduced}</span>}</summary>
        <p class="card-body line-of-parts">
          <button
            type="button"
            onClick={() => save(`${name}.csv`, new Blob([csvOf(data)], { type: 'text/csv' }))}
          >
            Save as CSV
          </button>
          <button
            type="button"
            onClick={() =>
              box.current!.querySelector('canvas')!.toBlob((image) => save(`${name}.png`, image!))
            }
          >
            Save as PNG
          </button>
        </p>
        <div class="tall" tabIndex={0} role="region" aria-label="Table">
          <DataTable
            rows={steps.map((x, at) => ({ x, mean: means[at], min: minima[at], max: maxima[at] }))}
            keyOf={({ x }) => x ?? 0}
            columns={[
              { title: data.axis, class: 'number', cell: ({ x }) => placeText(x, data.axis) },
              ...(['mean', 'min', 'max'] as const).map((title) => ({
                title,
                class: 'number',
                cell: (row: Record<typeof title, number | null | undefined>) => figure(row[title], 6),
              })),
            ]}
          />
        </div>
      </details>
    </Card>
  );
}

function save(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name.replaceAll('/', '-');
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
