import { counted } from 'command-kit/plural';
import type { Answer } from 'echelon-client/calls';
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
import { Command, Head } from '../parts/head.tsx';
import { Ago, Muted, State } from '../parts/marks.tsx';
import { Await, Empty } from '../parts/states.tsx';

/** How an outcome of a delivery looks: a failed try is repeated, a dead letter is not. */
const LOOKS: Record<string, string> = { delivered: 'ok', failed: 'paused', dead: 'error' };

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
      <div class="toolbar">
        <Choice
          label="Project"
          value={project}
          none={session.value?.project ?? 'default'}
          options={(projects.data?.items ?? []).map(({ name }) => name)}
          onChoose={setProject}
        />
      </div>
      <Await of={list}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No subscription yet">
              <p>
                A subscription tells a webhook, a chat or a mailbox what happens in project{' '}
                <strong>{chosen}</strong>. Add one:
              </p>
              <Command
                text={`echelon notify add --project ${chosen} --on state wrong-rows --state failed --webhook URL --secret NAME`}
              />
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
            <p class="card-body muted">
              Nothing was sent yet. Send a test to see whether the target receives it.
            </p>
          ) : (
            <DataTable
              rows={items}
              fold="minmax(0, 1fr) auto"
              keyOf={({ message, tries }) => `${message} ${tries}`}
              columns={[
                { title: 'Event', cell: ({ type }) => type },
                {
                  title: 'Outcome',
                  cell: ({ outcome }) => <State state={LOOKS[outcome] ?? outcome} word={outcome} />,
                },
                {
                  title: 'Reason',
                  class: 'wrap line',
                  cell: ({ reason }) => (reason ? inert(reason) : <Muted>none</Muted>),
                },
                { title: 'Try', class: 'number wide', cell: ({ tries }) => count(tries) },
                { title: 'When', class: 'muted number', cell: ({ at }) => <Ago at={at} /> },
              ]}
            />
          )
        }
      </Await>
    </Card>
  );
}
