import type { Experiment } from 'echelon-client/calls';
import { useGet } from '../app/resource.ts';
import { batchHref } from '../models/paths.ts';
import { count, inert } from '../models/words.ts';
import { Card } from '../parts/card.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { Head } from '../parts/head.tsx';
import { Ago, Muted } from '../parts/marks.tsx';
import { Await } from '../parts/states.tsx';

const LOOKED_AT = 200;

/** Which rules have fired, and the presets to choose from. */
export function Rules() {
  const list = useGet('/v1/experiments', { query: { limit: LOOKED_AT } });
  const presets = useGet('/v1/rules/presets', {});
  return (
    <>
      <Head title="Rules" />
      <div class="stack">
        <Await of={list}>
          {({ items, next }) => {
            const fired = items
              .flatMap(({ id, name, rules }) =>
                rules.flatMap((rule) =>
                  rule.fired.map((one) => ({ id, name, rule: rule.name, does: rule.do, ...one })),
                ),
              )
              .sort((a, b) => b.at - a.at);
            const among = next === null ? 'in all experiments' : `in the newest ${LOOKED_AT} experiments`;
            return (
              <Card title="Fired" note={`${count(fired.length)} ${among}`}>
                {fired.length === 0 ? (
                  <p class="card-body muted">
                    No rule has fired. Add presets to a spec, for example{' '}
                    <code>{'rules: [{ preset: plateau, do: mark }]'}</code>. A rule marks an experiment or
                    stops it.
                  </p>
                ) : (
                  <Fired fired={fired} />
                )}
              </Card>
            );
          }}
        </Await>
        <Await of={presets}>
          {({ items }) => (
            <Card title="Presets" note={`${count(items.length)}, for the field rules of a spec`}>
              <DataTable
                rows={items}
                keyOf={({ name }) => name}
                columns={[
                  { title: 'Preset', cell: ({ name }) => <span class="code">{name}</span> },
                  { title: 'Meaning', cell: ({ means }) => means },
                  { title: 'Condition', class: 'muted', cell: ({ condition }) => condition },
                ]}
              />
            </Card>
          )}
        </Await>
      </div>
    </>
  );
}

type Mark = Experiment['rules'][number]['fired'][number];

function Fired({ fired }: { fired: (Mark & { id: string; name: string; rule: string; does: string })[] }) {
  return (
    <DataTable
      rows={fired}
      keyOf={({ id, rule, attempt, step, at }) => `${id} ${rule} ${attempt} ${step} ${at}`}
      columns={[
        {
          title: 'Rule',
          cell: ({ rule, does }) => (
            <>
              <span class="code">{rule}</span> <Muted>{does}</Muted>
            </>
          ),
        },
        { title: 'Experiment', cell: ({ id, name }) => <a href={`/experiments/${id}`}>{inert(name)}</a> },
        {
          title: 'Step',
          cell: ({ id, attempt, batch, step }) =>
            batch === null ? (
              step
            ) : (
              <a href={batchHref({ id, attempt, batch })}>
                {step} (batch {batch})
              </a>
            ),
        },
        { title: 'What happened', class: 'wrap', cell: ({ reason }) => inert(reason) },
        { title: 'When', class: 'muted', cell: ({ at }) => <Ago at={at} /> },
      ]}
    />
  );
}
