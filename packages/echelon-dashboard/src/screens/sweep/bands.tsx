import { counted } from 'command-kit/plural';
import type { Answer } from 'echelon-client/calls';
import { useGet } from '../../app/resource.ts';
import { place, setQuery } from '../../app/router.ts';
import { Curve } from '../../charts/curve.tsx';
import { bandsOf, grouped } from '../../models/curves.ts';
import { figure, inert } from '../../models/words.ts';
import { Card } from '../../parts/card.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Choice } from '../../parts/filters.tsx';
import { Await, Empty } from '../../parts/states.tsx';

type Series = Answer<'get', '/v1/sweeps/{id}/series'>;

/** Combinations in one chart: as many as there are colours. */
const SHOWN = 5;

interface BandsProps {
  sweep: string;
  metric: string | undefined;
  metrics: readonly string[];
  /** A combination in words. */
  nameOf: (values: Series['items'][number]['values']) => string;
  /** Rises when something of the sweep has changed. */
  tick: number;
}

/** A metric over steps: for each combination the mean over its children, with its 95 % interval as a band. */
export function Bands({ metric, metrics, ...of }: BandsProps) {
  return (
    <Card
      class="over-steps"
      title="Over steps"
      note="means over the children, with 95 % intervals as bands"
      end={
        metrics.length > 0 && (
          <Choice label="Metric" name="metric" value={metric} options={grouped(metrics)} />
        )
      }
    >
      {metric === undefined ? <Empty title="No metric yet" /> : <Chart {...of} metric={metric} />}
    </Card>
  );
}

function Chart({ sweep, metric, nameOf, tick }: Omit<BandsProps, 'metrics'> & { metric: string }) {
  const from = place.value.query.get('combinations') ?? undefined;
  const series = useGet(
    '/v1/sweeps/{id}/series',
    { path: { id: sweep }, query: { metric, limit: SHOWN, cursor: from } },
    tick,
  );
  return (
    <Await of={series}>
      {({ items, next }) => (
        <>
          {items.every(({ points }) => points.length === 0) ? (
            <Empty title="No child has recorded this metric" />
          ) : (
            <Curve
              data={bandsOf(items, nameOf)}
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
          <div class="card-body line-of-parts">
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
          </div>
          <Table items={items} nameOf={nameOf} />
        </>
      )}
    </Await>
  );
}

function Table({ items, nameOf }: Pick<Series, 'items'> & Pick<BandsProps, 'nameOf'>) {
  return (
    <details class="in-numbers">
      <summary>Table</summary>
      <div class="tall" tabIndex={0} role="region" aria-label="Table">
        <DataTable
          rows={items.flatMap(({ values, points }) =>
            points.map((point) => ({ ...point, of: nameOf(values) })),
          )}
          keyOf={({ of, from }) => `${of} ${from}`}
          columns={[
            { title: 'Combination', cell: ({ of }) => inert(of) },
            {
              title: 'Steps',
              class: 'number',
              cell: ({ from, to }) => (from === to ? from : `${from} to ${to}`),
            },
            { title: 'n', class: 'number', cell: ({ n }) => n },
            { title: 'Mean', class: 'number', cell: ({ mean }) => figure(mean, 6) },
            { title: 'Low', class: 'number', cell: ({ interval }) => figure(interval?.low, 6) },
            { title: 'High', class: 'number', cell: ({ interval }) => figure(interval?.high, 6) },
          ]}
        />
      </div>
    </details>
  );
}
