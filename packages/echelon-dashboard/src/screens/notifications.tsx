import type { Answer } from 'echelon-client/calls';
import { counted } from 'echelon-verify/text/plural';
import { useState } from 'preact/hooks';
import { api } from '../app/api.ts';
import { useGet } from '../app/resource.ts';
import { may, session } from '../app/session.ts';
import { command } from '../models/commands.ts';
import { count, inert } from '../models/words.ts';
import { Card } from '../parts/card.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { Confirm } from '../parts/dialog.tsx';
import { Choice } from '../parts/filters.tsx';
import { Head } from '../parts/head.tsx';
import { Ago, Muted } from '../parts/marks.tsx';
import { Await, Empty } from '../parts/states.tsx';

type Subscription = Answer<'get', '/v1/subscriptions'>['items'][number];

/** The subscriptions of a project, each with its last deliveries. */
export function Notifications() {
  const [project, setProject] = useState('');
  const chosen = project || session.value?.project || 'default';
  const list = useGet('/v1/subscriptions', { query: { project: chosen } });
  const projects = useGet('/v1/projects', {});
  return (
    <>
      <Head title="Notifications" command={command('notify ls', { project: chosen })} />
      <Choice
        label="Project"
        value={project}
        none={session.value?.project ?? 'default'}
        options={(projects.data?.items ?? []).map(({ name }) => name)}
        onChoose={setProject}
      />
      <Await of={list}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No subscriptions">
              Add one with <code>echelon notify add</code>.
            </Empty>
          ) : (
            <div class="stack">
              {items.map((one) => (
                <OneSubscription key={one.id} item={one} onRemove={list.reload} />
              ))}
            </div>
          )
        }
      </Await>
    </>
  );
}

function targetOf({ target }: Subscription): string {
  if (target.kind === 'email') return target.to.join(', ');
  return target.kind === 'webhook' ? target.url : `${target.kind}: ${target.secret}`;
}

function OneSubscription({ item, onRemove }: { item: Subscription; onRemove: () => void }) {
  const path = { id: item.id };
  const deliveries = useGet('/v1/subscriptions/{id}/deliveries', { path });
  const { pending = 0, dead = [], disabled = null } = deliveries.data ?? {};
  const filter = [...(item.states ?? []), ...(item.tags ?? []), item.owner ?? ''].filter(Boolean).join(', ');
  return (
    <Card
      title={inert(targetOf(item))}
      note={`${item.events.join(', ')}${filter && ` (${inert(filter)})`}; ${count(pending)} pending, ${counted(dead.length, 'dead letter')}`}
      end={
        may.value('submit') && (
          <>
            <button type="button" onClick={() => void deliveries.reload()}>
              Refresh
            </button>
            <button
              type="button"
              onClick={() =>
                void api.post('/v1/subscriptions/{id}/test', { path }).then(() => deliveries.reload())
              }
            >
              Send a test
            </button>
            {(dead.length > 0 || disabled !== null) && (
              <button
                type="button"
                onClick={() =>
                  void api.post('/v1/subscriptions/{id}/resend', { path }).then(() => deliveries.reload())
                }
              >
                {disabled === null ? 'Send dead letters again' : 'Enable again'}
              </button>
            )}
            <Confirm
              danger
              label="Remove"
              title="Remove the subscription?"
              verb="Remove"
              act={() => api.delete('/v1/subscriptions/{id}', { path }).then(onRemove)}
            >
              <p>Its pending messages and dead letters are deleted.</p>
            </Confirm>
          </>
        )
      }
    >
      {disabled !== null && <p>Disabled: {inert(disabled)}. Its messages stay pending.</p>}
      <Await of={deliveries}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="Nothing was sent yet" />
          ) : (
            <DataTable
              rows={items}
              keyOf={({ message, tries }) => `${message} ${tries}`}
              columns={[
                { title: 'Event', cell: ({ at }) => <Ago at={at} /> },
                { title: 'Kind', cell: ({ type }) => type },
                { title: 'Outcome', cell: ({ outcome }) => outcome },
                { title: 'Attempt', cell: ({ tries }) => count(tries) },
                { title: 'Reason', cell: ({ reason }) => (reason ? inert(reason) : <Muted>none</Muted>) },
              ]}
            />
          )
        }
      </Await>
    </Card>
  );
}
