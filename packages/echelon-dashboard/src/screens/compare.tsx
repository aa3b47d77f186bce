import { api } from '../app/api.ts';
import { useResource } from '../app/resource.ts';
import { place, setQuery } from '../app/router.ts';
import { Curve } from '../charts/curve.tsx';
import { command } from '../models/commands.ts';
import { curvesOf, reductionOf } from '../models/curves.ts';
import { compareSpecs } from '../models/spec.ts';
import { inert } from '../models/words.ts';
import { Head } from '../parts/head.tsx';
import { OutcomeCounts, State } from '../parts/marks.tsx';
import { Await, Empty } from '../parts/states.tsx';

const MAX = 5;

/** Several experiments: how they differ, and then their curves. */
export function Compare() {
  const { query } = place.value;
  const ids = query.getAll('id').slice(0, MAX);
  const metric = query.get('metric') || undefined;
  const recent = useResource(
    (signal) => api.get('/v1/experiments', { query: { limit: 100 }, signal }),
    ['recent'],
  );
  return (
    <>
      <Head title="Compare" command={command('diff', {}) + ids.map((id) => ` ${id}`).join('')} />
      <div class="toolbar">
        <label>
          Add an experiment{' '}
          <select
            value=""
            disabled={ids.length >= MAX}
            onChange={(event) => setQuery({ id: [...ids, event.currentTarget.value] })}
          >
            <option value="">choose one of the newest 100</option>
            {recent.data?.items
              .filter(({ id }) => !ids.includes(id))
              .map(({ id, name }) => (
                <option key={id} value={id}>
                  {inert(name)} ({id})
                </option>
              ))}
          </select>
        </label>
        <span class="muted end">
          {ids.length} of at most {MAX}
        </span>
      </div>
      {ids.length === 0 ? (
        <Empty title="Choose two experiments">
          <p>Their specs and fingerprints are compared first, then their curves.</p>
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
        const [first] = experiments;
        const rows = experiments.slice(1).flatMap((other) =>
          compareSpecs(first!.resolved, other.resolved)
            .filter(({ field }) => field !== 'name')
            .map((row) => ({ ...row, other: other.name })),
        );
        const metrics = [
          ...new Set(experiments.flatMap(({ progress }) => Object.keys(progress.metrics))),
        ].sort();
        const shown = metric ?? metrics.find((name) => /success/.test(name)) ?? metrics[0];
        return (
          <div class="stack">
            <section class="card scroll">
              <table class="plain">
                <tbody>
                  {experiments.map(({ id, name, state, fingerprint, verification }) => (
                    <tr key={id}>
                      <td>
                        <a href={`/experiments/${id}`}>{inert(name)}</a>
                      </td>
                      <td>
                        <State state={state} />
                      </td>
                      <td class="mono wrap">{fingerprint ?? 'no estimator in the spec'}</td>
                      <td>
                        <OutcomeCounts counts={verification} rows={verification.rowsSeen} />
                      </td>
                      <td>
                        <button
                          type="button"
                          class="link"
                          aria-label={`Remove ${inert(name)}`}
                          onClick={() => setQuery({ id: ids.filter((one) => one !== id) })}
                        >
                          Remove
                        </button>
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </section>
            {rows.length > 0 && (
              <details class="card" open={rows.length <= 12}>
                <summary class="card-head">
                  <h2>{rows.length} differences of the specs</h2>
                </summary>
                <table class="plain">
                  <tbody>
                    {rows.map(({ field, a, b, other }) => (
                      <tr key={`${other} ${field}`}>
                        <td class="mono">{field}</td>
                        <td class="mono wrap">{inert(a ?? 'not set')}</td>
                        <td class="mono wrap">
                          {inert(b ?? 'not set')} <span class="muted">{inert(other)}</span>
                        </td>
                      </tr>
                    ))}
                  </tbody>
                </table>
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
  const loaded = useResource((signal) => api.get('/v1/metrics', { query, signal }), [query]);
  return (
    <section class="card">
      <div class="card-head">
        <label>
          Metric{' '}
          <select value={shown} onChange={(event) => setQuery({ metric: event.currentTarget.value })}>
            {metrics.map((name) => (
              <option key={name} value={name}>
                {inert(name)}
              </option>
            ))}
          </select>
        </label>
      </div>
      <Await of={loaded}>
        {({ items }) => {
          const series = items.flatMap(({ experiment, series: own }) =>
            own.map(({ points }) => ({ name: names[ids.indexOf(experiment)] ?? experiment, points })),
          );
          if (series.length === 0) return <Empty title="None of them has this metric" />;
          const data = curvesOf(series);
          return (
            <>
              <Curve data={data} strip={[]} label={`${inert(shown)} of ${ids.length} experiments`} />
              <p class="muted card-body">{reductionOf(data) ?? 'Every recorded value is shown.'}</p>
            </>
          );
        }}
      </Await>
    </section>
  );
}
