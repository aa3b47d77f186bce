import { duration as durationOption, wholeNumber } from 'command-kit/arguments';
import { inert } from 'command-kit/inert';
import type { Output } from 'command-kit/output';
import { fittedTable, idColumn, textColumn } from 'command-kit/table';
import { Option } from 'commander';
import type { ApiKey, ApiKeyWithSecret, AuditEntry } from 'echelon-client/calls';
import { SCOPES } from '../../core/scopes.ts';
import { MAX_PAGE } from '../client.ts';
import { group } from '../group.ts';
import { row, stated } from '../row.ts';
import { duration, time } from '../states.ts';

const whoami = row({
  name: 'whoami',
  description: 'Show the address of the API, and the name, the project and the scopes of your token.',
  examples: ['echelon whoami --url https://echelon.example.org'],
  verb: 'get',
  path: '/v1/caller',
  json: (caller, { url }) => ({ url, ...caller }),
  print({ id, name, project, scopes }, { url }) {
    const facts = [
      ['API', url],
      ['name', inert(name)],
      ['id', inert(id)],
      ['project', inert(project ?? 'all')],
      ['scopes', scopes.join(' ')],
    ];
    return facts.map(([what, value]) => `${what!.padEnd(9)}${value}`).join('\n');
  },
});

const list = row({
  name: 'ls',
  description: 'List the API keys, newest first.',
  examples: ['echelon keys ls'],
  verb: 'get',
  path: '/v1/keys',
  pages: MAX_PAGE,
  json: ({ items }) => ({ items }),
  print: ({ items }, { width, now }) =>
    items.length === 0
      ? 'No keys. Add one with `echelon keys add NAME --scope read`.'
      : keyTable(items, now, width),
});

/** One line per key. */
export function keyTable(keys: readonly ApiKey[], now: number, width?: number | undefined): string {
  const columns = [
    { title: 'ID' },
    { title: 'NAME', minWidth: 10 },
    { title: 'PROJECT', minWidth: 8 },
    { title: 'SCOPES' },
    { title: 'STATE' },
    { title: 'USED', drop: 1 },
    { title: 'AGE', drop: 2 },
  ];
  return fittedTable(
    columns,
    keys.map((key) => [
      key.id,
      inert(key.name),
      inert(key.project ?? 'all'),
      key.scopes.join(' '),
      stateOf(key, now),
      key.lastUsedAt === null ? 'never' : `${duration(now - key.lastUsedAt)} ago`,
      duration(now - key.createdAt),
    ]),
    width,
  );
}

function stateOf({ revokedAt, expiresAt }: ApiKey, now: number): string {
  if (revokedAt !== null) return 'revoked';
  if (expiresAt === null) return 'valid';
  return expiresAt <= now ? 'expired' : `valid for ${duration(expiresAt - now)}`;
}

interface NewKey {
  name: string;
  scope: (typeof SCOPES)[number][];
  project?: string;
  expiresIn?: number;
}

const add = row({
  name: 'add',
  description: 'Add an API key and print it. It cannot be shown again.',
  arguments: [['<name>', 'name of the key: its owner or its purpose']],
  options: [
    () => new Option('--scope <scope...>', 'what the key may do').choices([...SCOPES]).makeOptionMandatory(),
    ['--project <project>', 'the only project that the key sees (default: all)'],
    ['--expires-in <time>', 'lifetime, such as 90d or 12h (default: unlimited)', durationOption],
  ],
  examples: ['echelon keys add ci --project vision --scope read submit --expires-in 90d'],
  verb: 'post',
  path: '/v1/keys',
  input: ({ name, scope: scopes, project, expiresIn: expiresInSeconds }: NewKey) => ({
    body: { name, scopes, ...stated({ project, expiresInSeconds }) },
  }),
  json: ({ key, token }) => ({ key, token }),
  print: printSecret,
});

/** Only the key goes to standard output, so that it can be redirected to a file. */
function printSecret({ key, token }: ApiKeyWithSecret, _given: unknown, output: Output): string {
  output.remark(`Key ${key.id}. Store the next line now; it cannot be shown again.`);
  return token;
}

const rotate = row({
  name: 'rotate',
  description: 'Replace the secret of a key and print it. It cannot be shown again.',
  arguments: [['<id>', 'id of the key']],
  options: [
    [
      '--overlap <time>',
      'how long the old secret stays valid, such as 1h, at most 7d (default: 0s)',
      durationOption,
    ],
  ],
  examples: ['echelon keys rotate 8t3k0q9w2m5x7y1z --overlap 1h > key'],
  verb: 'post',
  path: '/v1/keys/{id}/rotate',
  input: ({ overlap: overlapSeconds }: { overlap?: number }) => ({ body: stated({ overlapSeconds }) }),
  json: ({ key, token }) => ({ key, token }),
  print: printSecret,
});

const revoke = row({
  name: 'delete',
  description: 'Revoke a key. The API refuses it at once and ends its open streams within seconds.',
  arguments: [['<id>', 'id of the key']],
  examples: ['echelon keys delete 8t3k0q9w2m5x7y1z'],
  verb: 'delete',
  path: '/v1/keys/{id}',
  print: (key) => `${key.id} (${inert(key.name)}) revoked`,
});

interface AuditFilter {
  limit: number;
  caller?: string;
  action?: string;
  target?: string;
}

const audit = row({
  name: 'audit',
  description: 'List changes and refused requests with their callers, newest first.',
  options: [
    ['--caller <id>', 'only requests of this key or token'],
    ['--action <name>', 'only this operation, such as cancelExperiment'],
    ['--target <id>', 'only requests on this resource'],
    ['-n, --limit <count>', 'maximum number of entries', wholeNumber(1, 1_000_000), 50],
  ],
  examples: ['echelon audit --action removeCluster -n 10'],
  verb: 'get',
  path: '/v1/audit',
  pages: MAX_PAGE,
  input: ({ caller, action, target, limit }: AuditFilter) => ({ query: { caller, action, target, limit } }),
  json: ({ items }) => ({ items }),
  print: ({ items }, { width }) => (items.length === 0 ? 'No entries match.' : auditTable(items, width)),
});

/** One line per entry. */
export function auditTable(entries: readonly AuditEntry[], width?: number | undefined): string {
  const rows = entries.map(({ at, caller, name, action, target, outcome, status, code, address, note }) => [
    time(at),
    inert(name ?? '-'),
    inert(caller ?? '-'),
    inert(action),
    inert(target ?? '-'),
    outcome === 'done' ? outcome : inert(`${outcome} ${code ?? status}`),
    inert(address),
    inert(note ?? ''),
  ]);
  const text = (title: string, at: number) =>
    textColumn(
      title,
      rows.map((row) => row[at]!),
    );
  const columns = [
    { title: 'TIME' },
    text('CALLER', 1),
    { title: 'KEY', drop: 3 },
    { title: 'ACTION' },
    idColumn(
      rows.map((row) => String(row[4])),
      'TARGET',
    ),
    text('OUTCOME', 5),
    { title: 'ADDRESS', drop: 2 },
    { ...text('NOTE', 7), drop: 1 },
  ];
  return fittedTable(columns, rows, width);
}

const description = 'Manage API keys. Without a command, list them.';

/** Who may do what, and who did: `echelon keys`, `whoami` and `audit`. */
export const commands = {
  keys: group({ name: 'keys', alias: 'key', description }, [list, add, rotate, revoke]),
  whoami,
  audit,
};
