import { useGet } from '../../app/resource.ts';
import { place, setQuery } from '../../app/router.ts';
import type { Detail } from '../../models/experiments.ts';
import { differingFields, rowsOf } from '../../models/spec.ts';
import { inertText } from '../../models/words.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { SpecDifferences } from '../../parts/spec-differences.tsx';
import { Await, Empty } from '../../parts/states.tsx';

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
    <div class="card">
      <DataTable
        rows={rows}
        keyOf={({ field }) => field}
        columns={[
          { title: 'Field', class: 'mono', cell: ({ field }) => field },
          { title: 'Value', class: 'mono wrap', cell: ({ value }) => inertText(value) },
          { title: 'Origin', class: 'muted', cell: ({ isDefault }) => (isDefault ? 'default' : 'spec') },
        ]}
      />
    </div>
  );
}

function Difference({ experiment, other }: { experiment: Detail; other: string }) {
  const loaded = useGet('/v1/experiments/{id}', { path: { id: other } });
  return (
    <Await of={loaded}>
      {(second) => {
        const rows = differingFields([experiment.resolved, second.resolved]);
        if (rows.length === 0) return <Empty title="Both experiments have the same spec" />;
        return (
          <div class="card">
            <SpecDifferences rows={rows} names={[experiment.name, second.name]} />
          </div>
        );
      }}
    </Await>
  );
}
