import { type Command, InvalidArgumentError, Option } from 'commander';
import { SCOPES } from '../../core/scopes.ts';
import { type ApiKey, type ApiKeyWithSecret, isLive } from '../../schemas/key.ts';
import { secondsOf } from '../arguments.ts';
import type { Client } from '../client.ts';
import { allOptions, apiCommand, type ConnectionOptions, clientFor } from '../connection.ts';
import { duration, inert, json, type Output } from '../output.ts';
import { fittedTable, widthFor, withWide } from '../table.ts';

type Options = ConnectionOptions & { json?: boolean; output?: string };

interface AddOptions extends Options {
  scope: string[];
  project?: string;
  expiresIn?: number;
}

interface CallerShown {
  id: string;
  name: string;
  project: string | null;
  scopes: string[];
}

/** `echelon whoami`: which API, as whom, and what may be done. */
export function whoamiCommand(output: Output): Command {
  return apiCommand('whoami')
    .summary('say which API is talked to, as whom, and what you may do')
    .description('say which API is talked to, as whom, what you see and what you may do')
    .addHelpText('after', '\nExample:\n  echelon whoami --context lab')
    .action(async (options: Options) => {
      const client = await clientFor(options);
      const caller = await client.get<CallerShown>('/v1/caller');
      if (options.json) return output.line(json({ url: client.url, ...caller }));
      const { id, name, project, scopes } = caller;
      const facts = [
        ['API', client.url],
        ['name', inert(name)],
        ['id', inert(id)],
        ['project', inert(project ?? 'all')],
        ['scopes', scopes.join(' ')],
      ];
      for (const [what, value] of facts) output.line(`${what!.padEnd(9)}${value}`);
    });
}

/** `echelon keys`: list, make, rotate and revoke. */
export function keysCommand(output: Output): Command {
  const command = withWide(apiCommand('keys'))
    .summary('list the API keys; make, rotate or revoke one')
    .description('list the API keys, the newest first')
    .addHelpText(
      'after',
      '\nExample:\n  echelon keys add ci --project vision --scope read submit --expires-in 90d',
    )
    .action(async (options: Options) => {
      const client = await clientFor(options);
      const list = { items: await allKeys(client) };
      if (options.json) return output.line(json(list));
      if (list.items.length === 0)
        return output.line('No keys. `echelon keys add NAME --scope read` makes one.');
      output.line(keyTable(list.items, Date.now(), widthFor(output, options)));
    });
  for (const sub of [add(output), rotate(output), revoke(output)]) command.addCommand(sub);
  return command;
}

async function allKeys(client: Client): Promise<ApiKey[]> {
  const items: ApiKey[] = [];
  let cursor: string | null | undefined;
  do {
    const page: { items: ApiKey[]; next: string | null } = await client.get('/v1/keys', {
      ...(cursor && { cursor }),
      limit: 200,
    });
    items.push(...page.items);
    cursor = page.next;
  } while (cursor !== null);
  return items;
}

/** One line for each key. */
export function keyTable(keys: readonly ApiKey[], now: number, width?: number | undefined): string {
  const columns = [
    { title: 'ID' },
    { title: 'NAME', least: 10 },
    { title: 'PROJECT', least: 8 },
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

function stateOf(key: ApiKey, now: number): string {
  if (key.revokedAt !== null) return 'revoked';
  if (!isLive(key, now)) return 'expired';
  return key.expiresAt === null ? 'valid' : `valid for ${duration(key.expiresAt - now)}`;
}

/** Seconds of a text like 90d, 12h, 30min or 45s. */
export function seconds(text: string): number {
  const found = secondsOf(text);
  if (found === undefined) throw new InvalidArgumentError('not a time like 90d, 12h, 30min or 45s');
  return found;
}

function add(output: Output): Command {
  return apiCommand('add')
    .description('make an API key; it is shown this once')
    .argument('<name>', 'for people: whose it is, or what for')
    .addOption(
      new Option('--scope <scope...>', 'what it may do: read, submit, custom-code, admin')
        .choices([...SCOPES])
        .makeOptionMandatory(),
    )
    .option('--project <project>', 'the only project that it sees (all)')
    .option('--expires-in <time>', 'e.g. 90d, 12h (it does not expire)', seconds)
    .addHelpText(
      'after',
      '\nExample:\n  echelon keys add ci --project vision --scope read submit --expires-in 90d',
    )
    .action(async (name: string, _own: AddOptions, command: Command) => {
      const options = allOptions<AddOptions>(command);
      const client = await clientFor(options);
      const { project, expiresIn, scope: scopes } = options;
      const made = await client.post<ApiKeyWithSecret>('/v1/keys', {
        ...{ name, scopes },
        ...(project !== undefined && { project }),
        ...(expiresIn !== undefined && { expiresInSeconds: expiresIn }),
      });
      show(output, options, made);
    });
}

/** The key alone goes to standard output, so that it can be written to a file. */
function show(output: Output, options: Options, { key, token }: ApiKeyWithSecret): void {
  if (!options.json) output.remark(`${key.id}: keep what follows, it is not shown again`);
  output.line(options.json ? json({ key, token }) : token);
}

function rotate(output: Output): Command {
  return apiCommand('rotate')
    .description('give a key a new secret, which is shown this once')
    .argument('<id>')
    .option('--overlap <time>', 'the old secret is accepted for so long, e.g. 1h (0s; 7d at most)', seconds)
    .addHelpText('after', '\nExample:\n  echelon keys rotate 8t3k0q9w2m5x7y1z --overlap 1h > key')
    .action(async (id: string, _own: Options, command: Command) => {
      const options = allOptions<Options & { overlap?: number }>(command);
      const client = await clientFor(options);
      const body = options.overlap === undefined ? {} : { overlapSeconds: options.overlap };
      show(output, options, await client.post<ApiKeyWithSecret>(`${pathOf(id)}/rotate`, body));
    });
}

function revoke(output: Output): Command {
  return apiCommand('revoke')
    .description('refuse a key from now on; its open streams end within seconds')
    .argument('<id>')
    .addHelpText('after', '\nExample:\n  echelon keys revoke 8t3k0q9w2m5x7y1z')
    .action(async (id: string, _own: Options, command: Command) => {
      const options = allOptions<Options>(command);
      const client = await clientFor(options);
      const key = await client.delete<ApiKey>(pathOf(id));
      output.line(options.json ? json(key) : `${key.id} (${inert(key.name)}) revoked`);
    });
}

const pathOf = (id: string): string => `/v1/keys/${encodeURIComponent(id)}`;
