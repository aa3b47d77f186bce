import { type Command, Option } from 'commander';
import type { ApiKey, ApiKeyWithSecret } from 'echelon-client/calls';
import { duration as durationOption } from 'echelon-verify/cli/arguments';
import { examples } from 'echelon-verify/cli/examples';
import { json, type Output } from 'echelon-verify/cli/output';
import { fittedTable, widthFor, withWide } from 'echelon-verify/cli/table';
import { inert } from 'echelon-verify/text/inert';
import { SCOPES } from '../../core/scopes.ts';
import { apiCommand, type ConnectionOptions, clientFor } from '../connection.ts';
import { group } from '../group.ts';
import { readPages } from '../pages.ts';
import { duration } from '../states.ts';

type Options = ConnectionOptions & { json?: boolean; output?: string };

interface AddOptions extends Options {
  scope: (typeof SCOPES)[number][];
  project?: string;
  expiresIn?: number;
}

/** `echelon whoami`: the API, the caller's name, project and scopes. */
export function whoamiCommand(output: Output): Command {
  return apiCommand('whoami')
    .description('Show the address of the API, and the name, the project and the scopes of your token.')
    .addHelpText('after', examples('echelon whoami --context lab'))
    .action(async (options: Options) => {
      const client = await clientFor(options);
      const caller = await client.get('/v1/caller');
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

/** `echelon keys`: list, add, rotate and delete. */
export function keysCommand(output: Output): Command {
  return group(
    { name: 'keys', alias: 'key', description: 'Manage API keys. Without a command, list them.' },
    [list(output), add(output), rotate(output), revoke(output)],
  );
}

function list(output: Output): Command {
  return withWide(apiCommand('ls'))
    .description('List the API keys, newest first.')
    .addHelpText('after', examples('echelon keys ls'))
    .action(async (options: Options) => {
      const client = await clientFor(options);
      const { items } = await readPages((page) => client.get('/v1/keys', { query: page }));
      if (options.json) return output.line(json({ items }));
      if (items.length === 0)
        return output.line('No keys. Add one with `echelon keys add NAME --scope read`.');
      output.line(keyTable(items, Date.now(), widthFor(output, options)));
    });
}

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

function add(output: Output): Command {
  return apiCommand('add')
    .description('Add an API key and print it. It cannot be shown again.')
    .argument('<name>', 'name of the key: its owner or its purpose')
    .addOption(
      new Option('--scope <scope...>', 'what the key may do').choices([...SCOPES]).makeOptionMandatory(),
    )
    .option('--project <project>', 'the only project that the key sees (default: all)')
    .option('--expires-in <time>', 'lifetime, such as 90d or 12h (default: unlimited)', durationOption)
    .addHelpText(
      'after',
      examples('echelon keys add ci --project vision --scope read submit --expires-in 90d'),
    )
    .action(async (name: string, options: AddOptions) => {
      const client = await clientFor(options);
      const { project, expiresIn, scope: scopes } = options;
      const body = {
        ...{ name, scopes },
        ...(project !== undefined && { project }),
        ...(expiresIn !== undefined && { expiresInSeconds: expiresIn }),
      };
      printSecret(output, options, await client.post('/v1/keys', { body }));
    });
}

/** Only the key goes to standard output, so that it can be redirected to a file. */
function printSecret(output: Output, options: Options, { key, token }: ApiKeyWithSecret): void {
  if (!options.json) output.remark(`Key ${key.id}. Store the next line now; it cannot be shown again.`);
  output.line(options.json ? json({ key, token }) : token);
}

function rotate(output: Output): Command {
  return apiCommand('rotate')
    .description('Replace the secret of a key and print it. It cannot be shown again.')
    .argument('<id>', 'id of the key')
    .option(
      '--overlap <time>',
      'how long the old secret stays valid, such as 1h, at most 7d (default: 0s)',
      durationOption,
    )
    .addHelpText('after', examples('echelon keys rotate 8t3k0q9w2m5x7y1z --overlap 1h > key'))
    .action(async (id: string, options: Options & { overlap?: number }) => {
      const client = await clientFor(options);
      const body = options.overlap === undefined ? {} : { overlapSeconds: options.overlap };
      printSecret(output, options, await client.post('/v1/keys/{id}/rotate', { path: { id }, body }));
    });
}

function revoke(output: Output): Command {
  return apiCommand('delete')
    .description('Revoke a key. The API refuses it at once and ends its open streams within seconds.')
    .argument('<id>', 'id of the key')
    .addHelpText('after', examples('echelon keys delete 8t3k0q9w2m5x7y1z'))
    .action(async (id: string, options: Options) => {
      const client = await clientFor(options);
      const key = await client.delete('/v1/keys/{id}', { path: { id } });
      output.line(options.json ? json(key) : `${key.id} (${inert(key.name)}) revoked`);
    });
}
