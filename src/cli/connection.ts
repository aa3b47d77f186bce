import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { CliError, EXIT } from 'command-kit/exit';
import { terminal } from 'command-kit/output';
import { Command, InvalidArgumentError, Option } from 'commander';
import { type Client, createClient } from './client.ts';
import { contextOf, DEFAULT_CONFIG_FILE } from './config-file.ts';
import { GLOBAL_OPTIONS } from './group.ts';
import { processIdentity } from './local/processes.ts';

/** What `echelon up` writes to its state directory, so that other commands of the same user find the API. */
interface Connection {
  url: string;
  token: string;
  pid: number;
  /** See {@link processIdentity}: another process may have the same id by now. */
  started?: string | undefined;
}

/** Options of every command that talks to the API; see {@link apiCommand}. */
export interface ApiOptions {
  json?: boolean;
  url?: string;
  token?: string;
  /** Name of a context of the configuration file. */
  context?: string;
  config?: string;
  stateDir: string;
}

const fileOf = (stateDir: string): string => join(stateDir, 'connection.json');

/** Default of `--state-dir`. */
export const DEFAULT_STATE_DIR = join(homedir(), '.echelon');

/** `--state-dir`, with its variable and default. */
export function stateDirOption(): Option {
  return new Option('--state-dir <directory>', 'directory for the data of `echelon up`')
    .env('ECHELON_STATE_DIR')
    .default(DEFAULT_STATE_DIR, '~/.echelon');
}

/** `--config`, with its variable and default. */
export function configOption(): Option {
  return new Option('--config <file>', 'file with the contexts; see `echelon config --help`')
    .env('ECHELON_CONFIG')
    .default(DEFAULT_CONFIG_FILE, '~/.config/echelon/config.yaml');
}

/** Adds `--url`, `--token`, `--context`, `--config` and `--state-dir` to a command. */
export function withConnection(command: Command): Command {
  const options = [
    new Option('--url <url>', 'address of the API').env('ECHELON_URL'),
    new Option('--token <token>', 'token of the API; the variable keeps it out of the process list').env(
      'ECHELON_TOKEN',
    ),
    new Option('--context <name>', 'name of an API in the configuration file').env('ECHELON_CONTEXT'),
    configOption(),
    stateDirOption(),
  ];
  for (const option of options) command.addOption(option.helpGroup(GLOBAL_OPTIONS));
  return command.hook('preAction', preferTypedContext);
}

/** A command that talks to the API and prints JSON on request. */
export function apiCommand(name: string): Command {
  return withConnection(new Command(name)).option('--json', 'print JSON');
}

/** `--context` on the command line outweighs ECHELON_URL and ECHELON_TOKEN, which belong to another API. */
function preferTypedContext(command: Command): void {
  const isFrom = (name: string, source: string) => command.getOptionValueSource(name) === source;
  if (!isFrom('context', 'cli') || !isFrom('url', 'env')) return;
  command.setOptionValue('url', undefined);
  if (isFrom('token', 'env')) command.setOptionValue('token', undefined);
}

/** Writes the file that {@link clientFor} reads. It holds the token, so only this user may read it. */
export async function saveConnection(stateDir: string, connection: Connection): Promise<void> {
  await mkdir(stateDir, { recursive: true, mode: 0o700 });
  await writeFile(fileOf(stateDir), `${JSON.stringify(connection)}\n`, { mode: 0o600 });
}

/** The connection that a state directory holds; undefined if there is none. */
export async function readConnection(stateDir: string): Promise<Connection | undefined> {
  const text = await readFile(fileOf(stateDir), 'utf8').catch(() => '');
  try {
    return JSON.parse(text) as Connection;
  } catch {
    // There is no file, or a full disk cut it short.
    return undefined;
  }
}

/** True while the process that wrote the connection runs. */
export function isRunning({ pid, started }: Connection): boolean {
  return started !== undefined && processIdentity(pid) === started;
}

/** Removes the file of {@link saveConnection}. */
export async function removeConnection(stateDir: string): Promise<void> {
  await rm(fileOf(stateDir), { force: true });
}

/**
 * A client for the API that the options, the environment, the current context or the local `echelon up` name, in this order.
 * Throws a {@link CliError} if there is none, or if its address, token or configuration cannot be used.
 */
export async function clientFor(options: ApiOptions): Promise<Client> {
  const { context: name, config = DEFAULT_CONFIG_FILE } = options;
  const context = options.url === undefined ? await contextOf(config, name) : undefined;
  const local = await readConnection(options.stateDir);
  const given = options.url ?? context?.url ?? local?.url;
  if (!given) {
    throw new CliError(
      EXIT.unreachable,
      'No API is configured. Start one with `echelon up`, or name one with --url or ECHELON_URL.',
    );
  }
  const known = context ?? local;
  if (!/^https?:\/\//.test(given) || !URL.canParse(given))
    throw new CliError(
      EXIT.usage,
      `${JSON.stringify(given)} is not an address of an API. Give one such as http://127.0.0.1:7077.`,
    );
  const url = baseOf(given);
  const token = options.token ?? (known && url === baseOf(known.url) ? known.token : undefined);
  if (!token) {
    const store = context
      ? ` To store one: \`echelon config set ${context.name} --url ${url} --token-file FILE\`.`
      : '';
    throw new CliError(
      EXIT.refused,
      `There is no token for ${url}. Give one with --token or ECHELON_TOKEN.${store}`,
    );
  }
  if (!/^[!-~]+$/.test(token))
    throw new CliError(
      EXIT.usage,
      'The token contains a space, a line break or a non-ASCII character. Check --token and ECHELON_TOKEN.',
    );
  const isTerminal = process.stderr.isTTY === true;
  return createClient({ url, token, onCut: terminal.remark, ...(isTerminal && { onSlow: terminal.remark }) });
}

/** The address without a `/v1` and slashes at its end. */
const baseOf = (url: string): string => url.replace(/\/+(v1\/*)?$/, '');

/** `--idempotency-key` of a command that submits. */
export const IDEMPOTENCY_KEY = [
  '--idempotency-key <key>',
  'a repeated submission with this key returns the first result (default: a random key)',
  idempotencyKey,
] as const;

function idempotencyKey(text: string): string {
  if (/^[!-~]{1,255}$/.test(text)) return text;
  throw new InvalidArgumentError('It must have 1 to 255 visible ASCII characters, without spaces.');
}

/** Adds {@link IDEMPOTENCY_KEY} to a command. */
export function withIdempotencyKey(command: Command): Command {
  return command.option(...IDEMPOTENCY_KEY);
}
