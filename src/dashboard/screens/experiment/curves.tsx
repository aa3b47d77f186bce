import { useMemo } from 'preact/hooks';
import { api } from '../../app/api.ts';
import { useLoad, useReload } from '../../app/load.ts';
import { navigate, place, setQuery } from '../../app/router.ts';
import { Curve, type StripCell } from '../../charts/curve.tsx';
import { type CurveData, chooseMetrics, curvesOf, reductionOf } from '../../models/curves.ts';
import { worstOf } from '../../models/outcomes.ts';
import type { ListedBatch } from '../../models/strip.ts';
import { figure, inert } from '../../models/words.ts';
import { Await, Empty } from '../../parts/states.tsx';
import type { Detail } from '../experiment.tsx';

const RESOLUTION = 500;

/** The curves of chosen metrics, each over the outcomes of the batches it was trained on. */
export function Curves({
  experiment,
  batches,
  tick,
}: {
  experiment: Detail;
  batches: ListedBatch[];
  tick: number;
}) {
  const path = { id: experiment.id };
  const names = useLoad(
    (signal) => api.get('/v1/experiments/{id}/metrics/names', { path, signal }),
    [path.id],
  );
  useReload(names, tick);
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

interface ChartsProps {
  experiment: Detail;
  batches: ListedBatch[];
  tick: number;
  names: string[];
}

function Charts({ experiment, batches, tick, names }: ChartsProps) {
  const asked = place.value.query.getAll('metric').filter((name) => names.includes(name));
  const chosen = asked.length > 0 ? asked : chooseMetrics(names);
  const path = { id: experiment.id };
  const chart = useLoad(
    (signal) =>
      api.get('/v1/experiments/{id}/metrics', {
        path,
        query: { names: chosen, resolution: RESOLUTION },
        signal,
      }),
    [path.id, chosen],
  );
  useReload(chart, tick);
  const strip = useMemo(() => batches.map(toCell), [batches]);
  const drop = (name: string) => setQuery({ metric: chosen.filter((one) => one !== name) });
  return (
    <>
      <div class="toolbar">
        <label>
          Add a curve{' '}
          <select value="" onChange={(event) => setQuery({ metric: [...chosen, event.currentTarget.value] })}>
            <option value="">choose a metric</option>
            {names
              .filter((name) => !chosen.includes(name))
              .map((name) => (
                <option key={name} value={name}>
                  {inert(name)}
                </option>
              ))}
          </select>
        </label>
        <span class="muted end">
          {chosen.length} of {names.length} metrics
        </span>
      </div>
      <Await of={chart}>
        {({ series }) => (
          <div class="charts">
            {chosen.map((name) => (
              <Chart
                key={name}
                name={name}
                data={curvesOf(series.filter((one) => one.name === name))}
                {...{ strip, experiment }}
                onDrop={chosen.length > 1 ? () => drop(name) : undefined}
              />
            ))}
          </div>
        )}
      </Await>
    </>
  );
}

const toCell = ({ attempt, batch, step, verification }: ListedBatch): StripCell => ({
  ...{ attempt, batch, step },
  worst: verification === null ? null : worstOf(verification),
});

interface ChartProps {
  name: string;
  data: CurveData;
  strip: StripCell[];
  experiment: Detail;
  onDrop: (() => void) | undefined;
}

function Chart({ name, data, strip, experiment, onDrop }: ChartProps) {
  const [steps = [], means = [], maxima = [], minima = []] = data.columns;
  const reduced = reductionOf(data);
  const last = means.findLast((value) => value !== null);
  return (
    <section class="card" aria-label={name}>
      <div class="card-head">
        <h2 class="mono clip">{inert(name)}</h2>
        <strong>{figure(last)}</strong>
        {onDrop && (
          <button type="button" class="link end" aria-label={`Remove the curve ${name}`} onClick={onDrop}>
            Remove
          </button>
        )}
      </div>
      <Curve
        data={data}
        strip={strip}
        label={`${name} over ${steps.length} steps; last ${figure(last)}. A table follows.`}
        onPick={({ attempt, batch }) => navigate(`/experiments/${experiment.id}/batches/${attempt}/${batch}`)}
      />
      <details class="in-numbers">
        <summary>Table{reduced && <span class="muted"> · {reduced}</span>}</summary>
        <div class="scroll tall">
          <table class="plain">
            <thead>
              <tr>
                {['step', 'mean', 'min', 'max'].map((title) => (
                  <th key={title} class="number" scope="col">
                    {title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {steps.map((step, at) => (
                <tr key={step}>
                  {[step, means[at], minima[at], maxima[at]].map((value, column) => (
                    <td key={column} class="number">
                      {figure(value, 6)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </section>
  );
}
