import type { Answer } from 'echelon-client/calls';
import { api } from '../app/api.ts';
import { useGet, usePolling, useResource } from '../app/resource.ts';
import { may, session } from '../app/session.ts';
import { inert } from '../models/words.ts';
import { Card } from '../parts/card.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { Head } from '../parts/head.tsx';
import { Fact, State } from '../parts/marks.tsx';
import { Await } from '../parts/states.tsx';
import { UsageCard } from '../parts/usage.tsx';

/** Whether Echelon itself is well, and its other pages. */
export function System() {
  const ready = useGet('/readyz', {});
  const isAdmin = may.value('admin');
  const system = useResource(
    async (signal) => (isAdmin ? api.get('/v1/system', { signal }) : null),
    ['system', isAdmin],
  );
  usePolling(() => {
    ready.reload();
    system.reload();
  }, 10_000);
  return (
    <>
      <Head title="System" />
      <dl class="facts">
        <Fact name="API and store">
          {ready.loading ? 'checking…' : ready.failure ? `not ready: ${ready.failure.message}` : 'ready'}
        </Fact>
        <Fact name="Signed in as">{session.value?.name}</Fact>
        <Fact name="Scopes">{session.value?.scopes.join(', ')}</Fact>
      </dl>
      <Await of={system}>
        {(found) => (
          <div class="stack">
            {found && <Checks {...found} />}
            <Card title="Other pages">
              <ul class="entries">
                <li>
                  <a href="/docs">API reference</a>
                  <span class="muted">every operation, with a form to try it</span>
                </li>
                <li>
                  <a href="/openapi.json">OpenAPI document</a>
                  <span class="muted">for generated clients</span>
                </li>
                <li>
                  <a href="/queues">BullMQ board</a>
                  <span class="muted">the jobs in Redis; needs the scope admin</span>
                </li>
                {session.value?.grafana && (
                  <li>
                    <a href={session.value.grafana}>Grafana</a>
                    <span class="muted">metrics of Echelon's processes and of the machines</span>
                  </li>
                )}
              </ul>
            </Card>
            <UsageCard />
          </div>
        )}
      </Await>
    </>
  );
}

/** What an operator must look at, with the remedy beside each problem. */
function Checks({ version, checks }: Answer<'get', '/v1/system'>) {
  return (
    <Card title="Checks" note={`Echelon ${version}`}>
      <DataTable
        rows={checks.toSorted((a, b) => Number(a.ok) - Number(b.ok))}
        keyOf={({ name }) => name}
        columns={[
          { title: 'Check', cell: ({ name }) => inert(name) },
          {
            title: 'State',
            cell: ({ ok }) => <State state={ok ? 'ok' : 'error'} word={ok ? 'ok' : 'problem'} />,
          },
          { title: 'Found', class: 'wrap', cell: ({ found }) => inert(found) },
          { title: 'Remedy', class: 'wrap', cell: ({ remedy }) => inert(remedy) },
        ]}
      />
    </Card>
  );
}
