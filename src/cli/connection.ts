import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { CliError, EXIT } from 'command-kit/exit';
import { terminal } from 'command-kit/output';
import { Command, InvalidArgumentError, Option } from 'commander';
import { type Client, createClient } from './client.ts';
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
  stateDir: string;
}

const fileOf = (stateDir: string): string => join(stateDir, 'connection.json');

/** The API and the token of `echelon login`. */
interface Login {
  url: string;
  token: string;
}

const loginFileOf = (stateDir: string): string => join(stateDir, 'login.json');

/** Default of `--state-dir`. */
export const DEFAULT_STATE_DIR = join(homedir(), '.echelon');

/** `--state-dir`, with its variable and default. */
export function stateDirOption(): Option {
  return new Option('--state-dir <directory>', 'directory for the data of `echelon up` and `echelon login`')
    .env('ECHELON_STATE_DIR')
    .default(DEFAULT_STATE_DIR, '~/.echelon');
}

/** Adds `--url`, `--token` and `--state-dir` to a command. */
export function withConnection(command: Command): Command {
  const options = [
    new Option('--url <url>', 'address of the API').env('ECHELON_URL'),
    new Option('--token <token>', 'token of the API; the variable keeps it out of the process list').env(
      'ECHELON_TOKEN',
    ),
    stateDirOption(),
  ];
  for (const option of options) command.addOption(option.helpGroup(GLOBAL_OPTIONS));
  return command;
}

/** A command that talks to the API and prints JSON on request. */
export function apiCommand(name: string): Command {
  return withConnection(new Command(name)).option('--json', 'print JSON');
}

/** Writes the file that {@link clientFor} reads. It holds the token, so only this user may read it. */
export async function saveConnection(stateDir: string, connection: Connection): Promise<void> {
  await savePrivately(fileOf(stateDir), connection);
}

/** The connection that a state directory holds; undefined if there is none. */
export async function readConnection(stateDir: string): Promise<Connection | undefined> {
  return await readSaved<Connection>(fileOf(stateDir));
}

/** Writes the token of a sign-in, which {@link clientFor} uses from then on. Only this user may read it. */
export async function saveLogin(stateDir: string, login: Login): Promise<void> {
  await savePrivately(loginFileOf(stateDir), login);
}

/** The last sign-in; undefined if there is none. */
export async function readLogin(stateDir: string): Promise<Login | undefined> {
  return await readSaved<Login>(loginFileOf(stateDir));
}

async function savePrivately(file: string, content: object): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(file, `${JSON.stringify(content)}\n`, { mode: 0o600 });
}

async function readSaved<T>(file: string): Promise<T | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '');
  try {
    return JSON.parse(text) as T;
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
 * A client for the API that the options, the environment, the last `echelon login` or the local `echelon up` name, in this
 * order. Throws a {@link CliError} if there is none, or if its address or token cannot be used.
 */
export async function clientFor(options: ApiOptions): Promise<Client> {
  const saved = [await readLogin(options.stateDir), await readConnection(options.stateDir)];
  const given = options.url ?? saved.find((one) => one !== undefined)?.url;
  if (!given) {
    throw new CliError(
      EXIT.unreachable,
      'No API is configured. Start one with `echelon up`, or name one with --url or ECHELON_URL.',
    );
  }
  if (!/^https?:\/\//.test(given) || !URL.canParse(given))
    throw new CliError(
      EXIT.usage,
      `${JSON.stringify(given)} is not an address of an API. Give one such as http://127.0.0.1:7077.`,
    );
  const url = baseOf(given);
  // A token is never sent to another API than its own.
  const token = options.token ?? saved.find((one) => one !== undefined && baseOf(one.url) === url)?.token;
  if (!token)
    throw new CliError(
      EXIT.refused,
      `There is no token for ${url}. Give one with --token or ECHELON_TOKEN, or sign in with \`echelon login\`.`,
    );
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
