import { counted } from 'command-kit/plural';
import type { Answer } from 'echelon-client/calls';
import { useState } from 'preact/hooks';
import { api } from '../app/api.ts';
import { useGet } from '../app/resource.ts';
import { may } from '../app/session.ts';
import { command } from '../models/commands.ts';
import { count, inert } from '../models/words.ts';
import { Card } from '../parts/card.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { Confirm } from '../parts/dialog.tsx';
import { Chips, Choice } from '../parts/filters.tsx';
import { Head } from '../parts/head.tsx';
import { Ago, Muted } from '../parts/marks.tsx';
import { Await } from '../parts/states.tsx';
import { chosenOf, type Tab, Tabs } from '../parts/tabs.tsx';

const TABS: readonly Tab[] = [
  ['', 'Keys', 'keys'],
  ['projects', 'Projects', 'projects'],
  ['audit', 'Audit log', 'audit'],
];

/** Who may do what, in which projects, and who did. */
export function Access() {
  const tab = chosenOf(TABS);
  return (
    <>
      <Head title="Access" command={command(tab[2])} />
      <Tabs label="Parts of access" path="/access" tabs={TABS} chosen={tab} />
      {tab[0] === '' && <Keys />}
      {tab[0] === 'projects' && <Projects />}
      {tab[0] === 'audit' && <Audit />}
    </>
  );
}

type Key = Answer<'get', '/v1/keys'>['items'][number];
const PAGE = 200;

function Keys() {
  const list = useGet('/v1/keys', { query: { limit: PAGE } });
  return (
    <Await of={list}>
      {({ items, next }) => (
        <Card
          title="API keys"
          note={`${counted(items.length, 'key')}${next ? ', and there are more' : ''}`}
          end={may.value('admin') && <NewKey onChange={list.reload} />}
        >
          {items.length === 0 && (
            <p class="card-body muted">
              No key yet: you use the token of the installation, which may do everything. Make a key of its
              own for each person and program, with the scopes that it needs.
            </p>
          )}
          {items.length > 0 && (
            <DataTable
              rows={items}
              keyOf={({ id }) => id}
              columns={[
                { title: 'Name', cell: nameOf },
                { title: 'Scopes', cell: ({ scopes }) => scopes.join(', ') },
                { title: 'Project', cell: ({ project }) => project ?? <Muted>all</Muted> },
                { title: 'Last used', cell: ({ lastUsedAt }) => <Ago at={lastUsedAt} /> },
                { title: 'Expires', cell: ({ expiresAt }) => <Ago at={expiresAt} never="never" /> },
                {
                  title: 'Actions',
                  isSilent: true,
                  cell: (key) =>
                    key.revokedAt === null ? <Revoke item={key} onChange={list.reload} /> : 'revoked',
                },
              ]}
            />
          )}
        </Card>
      )}
    </Await>
  );
}

const SCOPES = ['read', 'submit', 'custom-code', 'admin'] as const;

/** Makes a key; its token is shown once. */
function NewKey({ onChange }: { onChange: () => void }) {
  const [name, setName] = useState('');
  const [project, setProject] = useState('');
  const [days, setDays] = useState('');
  const [scopes, setScopes] = useState<readonly (typeof SCOPES)[number][]>(['read']);
  const [token, setToken] = useState<string>();
  const projects = useGet('/v1/projects', {});
  const make = async () => {
    const body = {
      name,
      scopes: [...scopes],
      project: project || null,
      ...(Number(days) > 0 && { expiresInSeconds: Number(days) * 86_400 }),
    };
    const made = await api.post('/v1/keys', { body });
    setToken(made.token);
    onChange();
  };
  return (
    <>
      <Confirm
        label="New key"
        title="Make an API key"
        verb="Make the key"
        isReady={name.trim() !== '' && scopes.length > 0}
        act={make}
      >
        <div class="fields">
          <label>
            Name{' '}
            <input value={name} maxLength={100} onInput={(event) => setName(event.currentTarget.value)} />
          </label>
          <Choice
            label="Project"
            value={project}
            none="all projects"
            options={(projects.data?.items ?? []).map((one) => one.name)}
            onChoose={setProject}
          />
          <label>
            Expires after{' '}
            <input
              class="tiny"
              type="number"
              min={1}
              value={days}
              placeholder="never"
              onInput={(event) => setDays(event.currentTarget.value)}
            />{' '}
            days
          </label>
        </div>
        <Chips
          options={SCOPES.filter((one) => one !== 'admin' || project === '')}
          labelOf={(one) => one}
          isOn={(one) => scopes.includes(one)}
          onToggle={(one) =>
            setScopes(scopes.includes(one) ? scopes.filter((other) => other !== one) : [...scopes, one])
          }
        />
      </Confirm>
      {token && (
        <p class="banner warn" role="status">
          Copy the key now; it is not shown again: <code class="block">{token}</code>
        </p>
      )}
    </>
  );
}

const nameOf = ({ id, name }: Key) => (
  <>
    {inert(name)}
    <div class="muted mono">{id}</div>
  </>
);

function Revoke({ item, onChange }: { item: Key; onChange: () => void }) {
  return (
    <Confirm
      danger
      label="Revoke"
      title={`Revoke the key ${inert(item.name)}?`}
      verb="Revoke"
      act={() => api.delete('/v1/keys/{id}', { path: { id: item.id } }).then(onChange)}
    >
      <p>
        Every request, event stream and browser session with this key ends at once. It cannot be undone. Last
        used <Ago at={item.lastUsedAt} />.
      </p>
    </Confirm>
  );
}

type Project = Answer<'get', '/v1/projects'>['items'][number];

const megabytes = (bytes: number) => `${count(Math.ceil(bytes / 1e6))} MB`;

const stored = ({ storeBytes, storeLimitBytes: limit }: Project) =>
  megabytes(storeBytes) + (limit === null ? '' : ` of ${megabytes(limit)}`);

function Projects() {
  const list = useGet('/v1/projects', {});
  return (
    <Await of={list}>
      {({ items }) => (
        <Card title="Projects" note={count(items.length)}>
          <DataTable
            rows={items}
            keyOf={({ name }) => name}
            columns={[
              {
                title: 'Name',
                cell: ({ name }) => <a href={`/experiments?project=${encodeURIComponent(name)}`}>{name}</a>,
              },
              { title: 'Weight', cell: ({ weight }) => weight },
              { title: 'GPU quota', cell: ({ gpuQuota }) => gpuQuota ?? <Muted>none</Muted> },
              { title: 'Stored in Redis', cell: stored },
              {
                title: 'Retention',
                cell: ({ retention }) =>
                  retention === null ? <Muted>defaults</Muted> : inert(JSON.stringify(retention)),
              },
              {
                title: 'Created',
                cell: ({ createdAt: at }) => <Ago at={at === 0 ? null : at} never="built in" />,
              },
            ]}
          />
        </Card>
      )}
    </Await>
  );
}

function Audit() {
  const [cursors, setCursors] = useState<string[]>([]);
  const cursor = cursors.at(-1);
  const list = useGet('/v1/audit', { query: { cursor, limit: 100 } });
  return (
    <Await of={list}>
      {({ items, next }) => (
        <>
          <Card
            title="Audit log"
            note={`${counted(items.length, 'entry', 'entries')} on this page, newest first`}
          >
            <DataTable
              rows={items}
              keyOf={({ id }) => id}
              columns={[
                { title: 'When', cell: ({ at }) => <Ago at={at} /> },
                { title: 'Caller', cell: ({ name }) => inert(name ?? 'not signed in') },
                { title: 'Action', class: 'mono', cell: ({ action }) => action },
                { title: 'Target', class: 'mono', cell: ({ target }) => inert(target ?? '') },
                {
                  title: 'Outcome',
                  cell: ({ outcome, code, status }) => (
                    <>
                      {outcome} <Muted>{code ?? status}</Muted>
                    </>
                  ),
                },
                { title: 'Address', class: 'mono', cell: ({ address }) => address },
              ]}
            />
          </Card>
          <p class="pages">
            {cursors.length > 0 && (
              <button type="button" onClick={() => setCursors(cursors.slice(0, -1))}>
                Newer
              </button>
            )}
            {next !== null && (
              <button type="button" onClick={() => setCursors([...cursors, next])}>
                Older
              </button>
            )}
          </p>
        </>
      )}
    </Await>
  );
}
