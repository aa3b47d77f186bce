import { counted } from 'command-kit/plural';
import { api } from '../app/api.ts';
import { useGet, useResource } from '../app/resource.ts';
import { place, setQuery } from '../app/router.ts';
import { Curve } from '../charts/curve.tsx';
import { command } from '../models/commands.ts';
import { curvesOf, reductionOf } from '../models/curves.ts';
import { differingFields } from '../models/spec.ts';
import { inert } from '../models/words.ts';
import { Card } from '../parts/card.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { Choice } from '../parts/filters.tsx';
import { FindExperiment } from '../parts/find-experiment.tsx';
import { Head } from '../parts/head.tsx';
import { Muted, OutcomeCounts, Status } from '../parts/marks.tsx';
import { SpecDifferences } from '../parts/spec-differences.tsx';
import { Await, Empty } from '../parts/states.tsx';

const MAX = 5;

/** Several experiments: how they differ, and then their curves. */
export function Compare() {
  const { query } = place.value;
  const ids = query.getAll('id').slice(0, MAX);
  const metric = query.get('metric') || undefined;
  return (
    <>
      <Head
        title="Compare"
        command={command('diff', {}) + ids.map((id) => ` ${id}`).join('')}
        actions={<a href="/comparisons">Planned comparisons</a>}
      />
      <div class="toolbar">
        <FindExperiment
          label="Add an experiment"
          not={ids}
          disabled={ids.length >= MAX}
          onChoose={(id) => setQuery({ id: [...ids, id] })}
        />
        <span class="muted end">
          {ids.length} of at most {MAX}
        </span>
      </div>
      {ids.length === 0 ? (
        <Empty title="Choose two experiments">
          <p>
            Search them above, or select several in the <a href="/experiments">list of experiments</a>. Their
            specs and fingerprints are compared first, then their curves.
          </p>
        </Empty>
      ) : (
        <Chosen ids={ids} metric={metric} />
      )}
    </>
  );
}

function Chosen({ ids, metric }: { ids: string[]; metric: string | undefined }) {
  const loaded = useResource(
    (signal) => Promise.all(ids.map((id) => api.get('/v1/experiments/{id}', { path: { id }, signal }))),
    ids,
  );
  return (
    <Await of={loaded}>
      {(experiments) => {
        const rows = differingFields(experiments.map(({ resolved }) => resolved)).filter(
          ({ field }) => field !== 'name',
        );
        const metrics = [
          ...new Set(experiments.flatMap(({ progress }) => Object.keys(progress.metrics))),
        ].sort();
        const shown = metric ?? metrics.find((name) => /success/.test(name)) ?? metrics[0];
        return (
          <div class="stack">
            <div class="card">
              <DataTable
                rows={experiments}
                fold="minmax(0, 1fr) auto"
                keyOf={({ id }) => id}
                columns={[
                  {
                    title: 'Experiment',
                    cell: ({ id, name }) => <a href={`/experiments/${id}`}>{inert(name)}</a>,
                  },
                  { title: 'Status', cell: (one) => <Status of={one} /> },
                  {
                    title: 'Estimator',
                    class: 'mono wrap line',
                    cell: ({ fingerprint }) => fingerprint ?? <Muted>no estimator in the spec</Muted>,
                  },
                  {
                    title: 'Rows',
                    cell: ({ verification: of }) => <OutcomeCounts counts={of} rows={of.rowsSeen} />,
                  },
                  { title: 'Actions', isSilent: true, cell: ({ id, name }) => removal(ids, id, name) },
                ]}
              />
            </div>
            {rows.length > 0 && (
              <details class="card" open={rows.length <= 12}>
                <summary class="card-head">
                  <h2>{counted(rows.length, 'difference')} of the specs</h2>
                </summary>
                <SpecDifferences rows={rows} names={experiments.map(({ name }) => name)} />
              </details>
            )}
            {shown !== undefined && (
              <Curves {...{ ids, metrics, shown }} names={experiments.map(({ name }) => name)} />
            )}
          </div>
        );
      }}
    </Await>
  );
}

const removal = (ids: string[], id: string, name: string) => (
  <button
    type="button"
    class="link"
    aria-label={`Remove ${inert(name)}`}
    onClick={() => setQuery({ id: ids.filter((one) => one !== id) })}
  >
    Remove
  </button>
);

function Curves({
  ids,
  names,
  metrics,
  shown,
}: {
  ids: string[];
  names: string[];
  metrics: string[];
  shown: string;
}) {
  const query = { experiments: ids, names: [shown], resolution: 500 };
  const loaded = useGet('/v1/metrics', { query });
  return (
    <Card title={<Choice label="Metric" name="metric" value={shown} options={metrics} />}>
      <Await of={loaded}>
        {({ items }) => {
          const series = items.flatMap(({ experiment, series: own }) =>
            own.map(({ points }) => ({ name: names[ids.indexOf(experiment)] ?? experiment, points })),
          );
          if (series.length === 0) return <Empty title="None of them has this metric" />;
          const data = curvesOf(series);
          const without = names.filter(
            (_, at) => !items.some((one) => one.experiment === ids[at] && one.series.length > 0),
          );
          return (
            <>
              <Curve data={data} strip={[]} label={`${inert(shown)} of ${ids.length} experiments`} />
              <p class="muted card-body">
                {reductionOf(data) ?? 'Every recorded value is shown.'}
                {without.length > 0 && ` Without a value of this metric: ${without.map(inert).join(', ')}.`}
              </p>
            </>
          );
        }}
      </Await>
    </Card>
  );
}
