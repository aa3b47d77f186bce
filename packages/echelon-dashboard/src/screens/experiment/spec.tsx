import { api } from '../../app/api.ts';
import { useResource } from '../../app/resource.ts';
import { place, setQuery } from '../../app/router.ts';
import { compareSpecs, rowsOf } from '../../models/spec.ts';
import { inert } from '../../models/words.ts';
import { PlainTable } from '../../parts/plain-table.tsx';
import { Await, Empty } from '../../parts/states.tsx';
import type { Detail } from '../experiment.tsx';

/** What exactly runs: every field of the spec with its origin, or how it differs from another experiment's. */
export function Spec({ experiment }: { experiment: Detail }) {
  const other = place.value.query.get('other') ?? '';
  return (
    <>
      <div class="toolbar">
        <label>
          Compare with{' '}
          <input
            placeholder="id of an experiment"
            class="mono"
            value={other}
            onChange={(event) => setQuery({ other: event.currentTarget.value.trim() })}
          />
        </label>
        {other !== '' && (
          <button type="button" class="link" onClick={() => setQuery({ other: undefined })}>
            Show the whole spec
          </button>
        )}
        <a class="end" href={`/submit?from=${experiment.id}`}>
          Edit a copy
        </a>
      </div>
      {other === '' ? (
        <Whole experiment={experiment} />
      ) : (
        <Difference experiment={experiment} other={other} />
      )}
    </>
  );
}

function Whole({ experiment }: { experiment: Detail }) {
  const rows = rowsOf(experiment.resolved, new Set(experiment.defaults));
  return (
    <section class="card scroll">
      <PlainTable columns={['Field', 'Value', 'Origin']}>
        {rows.map(({ field, value, isDefault }) => (
          <tr key={field}>
            <td class="mono">{field}</td>
            <td class="mono wrap">{inert(value)}</td>
            <td class="muted">{isDefault ? 'default' : 'spec'}</td>
          </tr>
        ))}
      </PlainTable>
    </section>
  );
}

function Difference({ experiment, other }: { experiment: Detail; other: string }) {
  const loaded = useResource(
    (signal) => api.get('/v1/experiments/{id}', { path: { id: other }, signal }),
    [other],
  );
  return (
    <Await of={loaded}>
      {(second) => {
        const rows = compareSpecs(experiment.resolved, second.resolved);
        if (rows.length === 0) return <Empty title="Both experiments have the same spec" />;
        return (
          <section class="card scroll">
            <PlainTable columns={['Field', inert(experiment.name), inert(second.name)]}>
              {rows.map(({ field, a, b }) => (
                <tr key={field}>
                  <td class="mono">{field}</td>
                  <td class="mono wrap">{inert(a ?? 'not set')}</td>
                  <td class="mono wrap">{inert(b ?? 'not set')}</td>
                </tr>
              ))}
            </PlainTable>
          </section>
        );
      }}
    </Await>
  );
}
