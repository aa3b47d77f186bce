import { useGet, usePolling } from '../app/resource.ts';
import { session } from '../app/session.ts';
import { count } from '../models/words.ts';
import { Card } from '../parts/card.tsx';
import { Head } from '../parts/head.tsx';
import { Fact } from '../parts/marks.tsx';
import { Await } from '../parts/states.tsx';
import { UsageCard } from '../parts/usage.tsx';

/** Whether Echelon itself is well, and its other pages. */
export function System() {
  const ready = useGet('/readyz', {});
  const queue = useGet('/v1/queues', { query: { limit: 1 } });
  usePolling(() => {
    ready.reload();
    queue.reload();
  }, 10_000);
  return (
    <>
      <Head title="System" command="echelon doctor" />
      <dl class="facts">
        <Fact name="API and store">
          {ready.loading ? 'checking…' : ready.failure ? `not ready: ${ready.failure.message}` : 'ready'}
        </Fact>
        <Fact name="Signed in as">{session.value?.name}</Fact>
        <Fact name="Scopes">{session.value?.scopes.join(', ')}</Fact>
      </dl>
      <Await of={queue}>
        {(answer) => (
          <dl class="facts">
            <Fact name="Batches not yet verified">{count(answer.verificationBacklog)}</Fact>
            <Fact name="Clusters that answer">
              {answer.clusters.filter(({ answering }) => answering).length} of {answer.clusters.length}
            </Fact>
            <Fact name="New experiments">
              {answer.accepting ? 'accepted' : 'not accepted: the store is full'}
            </Fact>
          </dl>
        )}
      </Await>
      <UsageCard />
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
    </>
  );
}
