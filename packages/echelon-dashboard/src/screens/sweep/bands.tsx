import type { Answer } from 'echelon-client/calls';
import { counted } from 'echelon-verify/text/plural';
import { api } from '../../app/api.ts';
import { useReload, useResource } from '../../app/resource.ts';
import { place, setQuery } from '../../app/router.ts';
import { Curve } from '../../charts/curve.tsx';
import { bandsOf, combinationName } from '../../models/bands.ts';
import { command } from '../../models/commands.ts';
import { chooseMetrics } from '../../models/curves.ts';
import { figure, inert } from '../../models/words.ts';
import { Command } from '../../parts/head.tsx';
import { PlainTable } from '../../parts/plain-table.tsx';
import { Await, Empty } from '../../parts/states.tsx';

/** Columns of the table. */
const NUMBERS = ['Steps', 'n', 'Mean', 'Low', 'High'];

type Series = Answer<'get', '/v1/sweeps/{id}/series'>;

/** Combinations in one chart: as many as there are colours. */
const SHOWN = 5;

interface BandsProps {
  sweep: string;
  /** A child whose metrics can be chosen. */
  child: string;
  /** Rises when something of the sweep has changed. */
  tick: number;
}

/** A metric over steps: for each combination the mean over its children, with its 95 % interval as a band. */
export function Bands({ sweep, child, tick }: BandsProps) {
  const names = useResource(
    (signal) => api.get('/v1/experiments/{id}/metrics/names', { path: { id: child }, signal }),
    [child],
  );
  useReload(names, tick);
  const known = names.data?.items.map(({ name }) => name) ?? [];
  const metric = place.value.query.get('metric') ?? chooseMetrics(known, 1)[0];
  return (
    <section class="card" aria-label="Bands over steps">
      <div class="card-head">
        <h2>Over steps</h2>
        {known.length > 0 && (
          <label>
            Metric{' '}
            <select value={metric} onChange={(event) => setQuery({ metric: event.currentTarget.value })}>
              {known.map((name) => (
                <option key={name} value={name}>
                  {inert(name)}
                </option>
              ))}
            </select>
          </label>
        )}
        <span class="muted">means over the children, with 95 % intervals as bands</span>
      </div>
      {metric === undefined ? (
        <Await of={names}>{() => <Empty title="No metric yet" />}</Await>
      ) : (
        <Chart sweep={sweep} metric={metric} tick={tick} />
      )}
    </section>
  );
}

function Chart({ sweep, metric, tick }: { sweep: string; metric: string; tick: number }) {
  const from = place.value.query.get('combinations') ?? undefined;
  const series = useResource(
    (signal) => {
      const query = { metric, limit: SHOWN, cursor: from };
      return api.get('/v1/sweeps/{id}/series', { path: { id: sweep }, query, signal });
    },
    [sweep, metric, from],
  );
  useReload(series, tick);
  return (
    <Await of={series}>
      {({ items, next }) => (
        <>
          {items.every(({ points }) => points.length === 0) ? (
            <Empty title="No child has recorded this metric" />
          ) : (
            <Curve
              data={bandsOf(items)}
              strip={[]}
              label={`${metric} of ${counted(items.length, 'combination')}. A table follows.`}
            />
          )}
          {/* With several combinations the legend names each with its number of children. */}
          {items.length === 1 && (
            <p class="card-body muted">
              In the band: {items[0]!.curves} of {counted(items[0]!.children, 'child', 'children')}
            </p>
          )}
          <div class="card-body bands-pages">
            {from !== undefined && (
              <button type="button" onClick={() => setQuery({ combinations: undefined })}>
                First combinations
              </button>
            )}
            {next !== null && (
              <button type="button" onClick={() => setQuery({ combinations: next }, { push: true })}>
                Next combinations
              </button>
            )}
            <Command text={command(`sweeps series ${sweep} ${metric}`, { limit: SHOWN })} />
          </div>
          <Table items={items} />
        </>
      )}
    </Await>
  );
}

function Table({ items }: Pick<Series, 'items'>) {
  return (
    <details class="in-numbers">
      <summary>Table</summary>
      <div class="scroll tall">
        <PlainTable columns={['Combination', ...NUMBERS]} numbers={NUMBERS}>
          {items.flatMap(({ values, points }) =>
            points.map(({ from, to, n, mean, interval }) => (
              <tr key={`${combinationName(values)} ${from}`}>
                <td class="mono">{inert(combinationName(values))}</td>
                <td class="number">{from === to ? from : `${from} to ${to}`}</td>
                <td class="number">{n}</td>
                <td class="number">{figure(mean, 6)}</td>
                <td class="number">{figure(interval?.low, 6)}</td>
                <td class="number">{figure(interval?.high, 6)}</td>
              </tr>
            )),
          )}
        </PlainTable>
      </div>
    </details>
  );
}
