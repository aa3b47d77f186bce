import type { Answer } from 'echelon-client/calls';
import { counted } from 'echelon-verify/text/plural';
import { useState } from 'preact/hooks';
import { api } from '../app/api.ts';
import { useResource } from '../app/resource.ts';
import { place } from '../app/router.ts';
import { command } from '../models/commands.ts';
import { count, inert } from '../models/words.ts';
import { Confirm } from '../parts/dialog.tsx';
import { Head } from '../parts/head.tsx';
import { Ago } from '../parts/marks.tsx';
import { PlainTable } from '../parts/plain-table.tsx';
import { Await } from '../parts/states.tsx';

const TABS = [
  ['', 'Keys', 'keys'],
  ['projects', 'Projects', 'projects'],
  ['audit', 'Audit log', 'audit'],
] as const;

/** Who may do what, in which projects, and who did. */
export function Access() {
  const tab = TABS.find(([name]) => name === (place.value.query.get('tab') ?? '')) ?? TABS[0];
  return (
    <>
      <Head title="Access" command={command(tab[2])} />
      <nav class="tabs" aria-label="Parts of access">
        {TABS.map(([name, label]) => (
          <a
            key={name}
            href={name === '' ? '/access' : `/access?tab=${name}`}
            aria-current={name === tab[0] ? 'page' : undefined}
          >
            {label}
          </a>
        ))}
      </nav>
      {tab[0] === '' && <Keys />}
      {tab[0] === 'projects' && <Projects />}
      {tab[0] === 'audit' && <Audit />}
    </>
  );
}

type Key = Answer<'get', '/v1/keys'>['items'][number];
const PAGE = 200;

function Keys() {
  const list = useResource((signal) => api.get('/v1/keys', { query: { limit: PAGE }, signal }), ['keys']);
  return (
    <Await of={list}>
      {({ items, next }) => (
        <Table
          title="API keys"
          note={`${counted(items.length, 'key')}${next ? ', and there are more' : ''}`}
          columns={['Name', 'Scopes', 'Project', 'Last used', 'Expires', '']}
        >
          {items.map((key) => (
            <tr key={key.id}>
              <td>
                {inert(key.name)}
                <div class="muted mono">{key.id}</div>
              </td>
              <td>{key.scopes.join(', ')}</td>
              <td>{key.project ?? <span class="muted">all</span>}</td>
              <td>
                <Ago at={key.lastUsedAt} />
              </td>
              <td>
                {key.expiresAt === null ? <span class="muted">never</span> : <Ago at={key.expiresAt} />}
              </td>
              <td>{key.revokedAt === null ? <Revoke item={key} onChange={list.reload} /> : 'revoked'}</td>
            </tr>
          ))}
        </Table>
      )}
    </Await>
  );
}

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

function megabytes(bytes: number): string {
  return `${count(Math.ceil(bytes / 1e6))} MB`;
}

function Projects() {
  const list = useResource((signal) => api.get('/v1/projects', { signal }), ['projects']);
  return (
    <Await of={list}>
      {({ items }) => (
        <Table
          title="Projects"
          note={count(items.length)}
          columns={['Name', 'Weight', 'GPU quota', 'Stored in Redis', 'Retention', 'Created']}
        >
          {items.map(({ name, weight, gpuQuota, storeBytes, storeLimitBytes, retention, createdAt }) => (
            <tr key={name}>
              <td>
                <a href={`/experiments?project=${encodeURIComponent(name)}`}>{name}</a>
              </td>
              <td>{weight}</td>
              <td>{gpuQuota ?? <span class="muted">none</span>}</td>
              <td>
                {megabytes(storeBytes)}
                {storeLimitBytes === null ? '' : ` of ${megabytes(storeLimitBytes)}`}
              </td>
              <td>
                {retention === null ? <span class="muted">defaults</span> : inert(JSON.stringify(retention))}
              </td>
              <td>{createdAt === 0 ? <span class="muted">built in</span> : <Ago at={createdAt} />}</td>
            </tr>
          ))}
        </Table>
      )}
    </Await>
  );
}

function Audit() {
  const [cursors, setCursors] = useState<string[]>([]);
  const cursor = cursors.at(-1);
  const list = useResource(
    (signal) => api.get('/v1/audit', { query: { cursor, limit: 100 }, signal }),
    ['audit', cursor],
  );
  return (
    <Await of={list}>
      {({ items, next }) => (
        <>
          <Table
            title="Audit log"
            note={`${counted(items.length, 'entry', 'entries')} on this page, newest first`}
            columns={['When', 'Caller', 'Action', 'Target', 'Outcome', 'Address']}
          >
            {items.map((entry) => (
              <tr key={entry.id}>
                <td>
                  <Ago at={entry.at} />
                </td>
                <td>{inert(entry.name ?? 'not signed in')}</td>
                <td class="mono">{entry.action}</td>
                <td class="mono">{inert(entry.target ?? '')}</td>
                <td>
                  {entry.outcome} <span class="muted">{entry.code ?? entry.status}</span>
                </td>
                <td class="mono">{entry.address}</td>
              </tr>
            ))}
          </Table>
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

interface TableProps {
  title: string;
  note: string;
  columns: string[];
  children: preact.ComponentChildren;
}

function Table({ title, note, columns, children }: TableProps) {
  return (
    <section class="card scroll">
      <div class="card-head">
        <h2>{title}</h2>
        <span class="muted">{note}</span>
      </div>
      <PlainTable columns={columns}>{children}</PlainTable>
    </section>
  );
}
