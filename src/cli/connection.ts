import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { type Client, createClient } from './client.ts';
import { contextOf, DEFAULT_CONFIG_FILE } from './config-file.ts';
import { CliError, EXIT } from './exit.ts';
import { processIdentity } from './local/process-identity.ts';
import { terminal } from './output.ts';

/** What a running private stack leaves in its state directory, for other commands of the same user. */
export interface Connection {
  url: string;
  token: string;
  pid: number;
  /** See {@link processIdentity}: the id may be another process's by now. */
  started?: string | undefined;
}

/** Options of every command that talks to the API. */
export interface ConnectionOptions {
  url?: string;
  token?: string;
  /** Name of a context of the configuration file. */
  context?: string;
  config?: string;
  stateDir: string;
}

const fileOf = (stateDir: string): string => join(stateDir, 'connection.json');

/** Where a private stack keeps its data, unless it is told otherwise. */
export const DEFAULT_STATE_DIR = join(homedir(), '.echelon');

/** `--state-dir`, with its variable and default. */
export function stateDirOption(): Option {
  return new Option('--state-dir <directory>', 'where the private stack keeps its data')
    .env('ECHELON_STATE_DIR')
    .default(DEFAULT_STATE_DIR, '~/.echelon');
}

/** `--config`, with its variable and default. */
export function configOption(): Option {
  return new Option('--config <file>', 'configuration file with the contexts')
    .env('ECHELON_CONFIG')
    .default(DEFAULT_CONFIG_FILE, '~/.config/echelon/config.yaml');
}

/** Under what the help of a command lists the options of {@link withConnection}. */
export const CONNECTION_GROUP = 'Which API, and as whom:';

/** Adds `--url`, `--token`, `--context`, `--config` and `--state-dir` to a command. */
export function withConnection(command: Command): Command {
  const options = [
    new Option('--url <url>', 'address of the API').env('ECHELON_URL'),
    new Option('--token <token>', 'API token; better set by the variable').env('ECHELON_TOKEN'),
    new Option('--context <name>', 'an API of the configuration file').env('ECHELON_CONTEXT'),
    configOption(),
    stateDirOption(),
  ];
  for (const option of options) command.addOption(option.helpGroup(CONNECTION_GROUP));
  return command.hook('preAction', preferWhatIsTyped);
}

/** A command that talks to the API and prints JSON on request. */
export function apiCommand(name: string): Command {
  return withConnection(new Command(name)).option('--json', 'print JSON, for scripts');
}

/** The options of a command and of the commands around it: a group and its parts take them wherever they stand. */
export function allOptions<T>(command: Command): T {
  return command.optsWithGlobals() as T;
}

/** A context that is typed holds before the variables of the environment, which belong to another API. */
function preferWhatIsTyped(command: Command): void {
  const isFrom = (name: string, source: string) => command.getOptionValueSource(name) === source;
  if (!isFrom('context', 'cli') || !isFrom('url', 'env')) return;
  command.setOptionValue('url', undefined);
  if (isFrom('token', 'env')) command.setOptionValue('token', undefined);
}

/** Writes the file that {@link clientFor} reads; only this user may read it, since it holds the token. */
export async function saveConnection(stateDir: string, connection: Connection): Promise<void> {
  await mkdir(stateDir, { recursive: true, mode: 0o700 });
  await writeFile(fileOf(stateDir), `${JSON.stringify(connection)}\n`, { mode: 0o600 });
}

/** The running private stack of a state directory; undefined where there is none. */
export async function readConnection(stateDir: string): Promise<Connection | undefined> {
  const text = await readFile(fileOf(stateDir), 'utf8').catch(() => '');
  try {
    return JSON.parse(text) as Connection;
  } catch {
    // There is none, or a full disk left half of one.
    return undefined;
  }
}

/** True while the process that wrote the connection runs. */
export function isRunning({ pid, started }: Connection): boolean {
  return started !== undefined && processIdentity(pid) === started;
}

/** Removes what {@link saveConnection} wrote. */
export async function removeConnection(stateDir: string): Promise<void> {
  await rm(fileOf(stateDir), { force: true });
}

/**
 * A client by flags, environment, the configuration file's context, or the private stack that runs here, in this order.
 * Throws a {@link CliError} where none of them says, and for an address or a configuration that cannot be used.
 */
export async function clientFor(options: ConnectionOptions): Promise<Client> {
  const { context: name, config = DEFAULT_CONFIG_FILE } = options;
  const context = options.url === undefined ? await contextOf(config, name) : undefined;
  const here = await readConnection(options.stateDir);
  const given = options.url ?? context?.url ?? here?.url;
  if (!given) {
    throw new CliError(
      EXIT.unreachable,
      'No API to talk to: `echelon up` starts one here, --url (or ECHELON_URL) names another.',
    );
  }
  const known = context ?? here;
  if (!/^https?:\/\//.test(given) || !URL.canParse(given))
    throw new CliError(EXIT.usage, `The address of the API is like http://127.0.0.1:7077, not ${given}.`);
  const url = baseOf(given);
  const token = options.token ?? (known && url === baseOf(known.url) ? known.token : undefined);
  if (!token) {
    const keep = context
      ? ` \`echelon config set ${context.name} --url ${url} --token-file FILE\` keeps one.`
      : '';
    throw new CliError(EXIT.refused, `No token for ${url}: pass --token or set ECHELON_TOKEN.${keep}`);
  }
  if (!/^[!-~]+$/.test(token))
    throw new CliError(EXIT.usage, 'The token has a space, a line break or a letter that no token has.');
  const isWatched = process.stderr.isTTY === true;
  return createClient({ url, token, onCut: terminal.remark, ...(isWatched && { onSlow: terminal.remark }) });
}

/** Without the `/v1` with which addresses of the API are shown, and without slashes at its end. */
const baseOf = (url: string): string => url.replace(/\/+(v1\/*)?$/, '');
