import { useMemo, useRef } from 'preact/hooks';
import { useGet } from '../../app/resource.ts';
import { navigate, place, setQuery } from '../../app/router.ts';
import { Curve, type StripCell } from '../../charts/curve.tsx';
import { type CurveData, chooseMetrics, curvesOf, reductionOf } from '../../models/curves.ts';
import type { Detail } from '../../models/experiments.ts';
import { worstOf } from '../../models/outcomes.ts';
import type { ListedBatch } from '../../models/strip.ts';
import { count, figure, inert } from '../../models/words.ts';
import { Card } from '../../parts/card.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Choice } from '../../parts/filters.tsx';
import { Await, Empty } from '../../parts/states.tsx';

const RESOLUTION = 500;

interface CurvesProps {
  experiment: Detail;
  batches: ListedBatch[];
  tick: number;
}

/** The curves of chosen metrics, each over the outcomes of the batches it was trained on. */
export function Curves({ experiment, batches, tick }: CurvesProps) {
  const path = { id: experiment.id };
  const names = useGet('/v1/experiments/{id}/metrics/names', { path }, tick);
  return (
    <Await of={names}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty title="No metrics yet">
            <p>Curves appear when the training reports its first metrics.</p>
          </Empty>
        ) : (
          <Charts {...{ experiment, batches, tick }} names={items.map(({ name }) => name)} />
        )
      }
    </Await>
  );
}

function Charts({ experiment, batches, tick, names }: CurvesProps & { names: string[] }) {
  const asked = place.value.query.getAll('metric').filter((name) => names.includes(name));
  const chosen = asked.length > 0 ? asked : chooseMetrics(names);
  const path = { id: experiment.id };
  const steps = stepsOf(place.value.query);
  const chart = useGet(
    '/v1/experiments/{id}/metrics',
    { path, query: { names: chosen, ...steps, resolution: RESOLUTION } },
    tick,
  );
  // The points of the last steps stay until those of the next are there.
  const last = useRef(chart);
  if (chart.data !== undefined || chart.failure !== undefined) last.current = chart;
  const zoom = (to: { from: number; to: number } | undefined) =>
    setQuery({ from: to?.from.toString(), to: to?.to.toString() });
  const strip = useMemo(() => batches.map(toCell), [batches]);
  const drop = (name: string) => setQuery({ metric: chosen.filter((one) => one !== name) });
  return (
    <>
      <div class="toolbar">
        <Choice
          label="Add a curve"
          none="choose a metric"
          options={names.filter((name) => !chosen.includes(name))}
          onChoose={(name) => setQuery({ metric: [...chosen, name] })}
        />
        {steps.from !== undefined && (
          <button type="button" class="link" onClick={() => zoom(undefined)}>
            Steps {count(steps.from)} to {count(steps.to)}: show all
          </button>
        )}
        <span class="muted end">
          {chosen.length} of {names.length} metrics
        </span>
      </div>
      <Await of={last.current}>
        {({ series }) => (
          <div class="charts">
            {chosen.map((name) => (
              <Chart
                key={name}
                name={name}
                data={curvesOf(series.filter((one) => one.name === name))}
                {...{ strip, experiment }}
                onZoom={zoom}
                onDrop={chosen.length > 1 ? () => drop(name) : undefined}
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
  data: CurveData;
  strip: StripCell[];
  experiment: Detail;
  onZoom: (steps: { from: number; to: number } | undefined) => void;
  onDrop: (() => void) | undefined;
}

function Chart({ name, data, strip, experiment, onZoom, onDrop }: ChartProps) {
  const [steps = [], means = [], maxima = [], minima = []] = data.columns;
  const reduced = reductionOf(data);
  const last = means.findLast((value) => value !== null);
  return (
    <Card
      label={inert(name)}
      title={
        <>
          <h2 class="mono clip">{inert(name)}</h2>
          <strong>{figure(last)}</strong>
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
      <Curve
        data={data}
        strip={strip}
        label={`${inert(name)} over ${steps.length} steps; last ${figure(last)}. A table follows.`}
        onPick={({ attempt, batch }) => navigate(`/experiments/${experiment.id}/batches/${attempt}/${batch}`)}
        onZoom={onZoom}
      />
      <details class="in-numbers">
        <summary>Table{reduced && <span class="muted"> · {reduced}</span>}</summary>
        <div class="tall">
          <DataTable
            rows={steps.map((step, at) => ({ step, mean: means[at], min: minima[at], max: maxima[at] }))}
            keyOf={({ step }) => step ?? 0}
            columns={(['step', 'mean', 'min', 'max'] as const).map((title) => ({
              title,
              class: 'number',
              cell: (row: Record<typeof title, number | null | undefined>) => figure(row[title], 6),
            }))}
          />
        </div>
      </details>
    </Card>
  );
}
