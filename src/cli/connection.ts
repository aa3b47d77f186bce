import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { type Client, createClient } from './client.ts';
import { CliError, EXIT } from './exit.ts';

/** What a running private stack leaves in its state directory, for other commands of the same user. */
export interface Connection {
  url: string;
  token: string;
  pid: number;
}

/** Options of every command that talks to the API. */
export interface ConnectionOptions {
  url?: string;
  token?: string;
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

/** Adds `--url`, `--token` and `--state-dir` to a command. */
export function withConnection(command: Command): Command {
  return command
    .addOption(new Option('--url <url>', 'address of the API').env('ECHELON_URL'))
    .addOption(new Option('--token <token>', 'API token; better set by the variable').env('ECHELON_TOKEN'))
    .addOption(stateDirOption());
}

/** Writes the file that {@link clientFor} reads; only this user may read it, since it holds the token. */
export async function saveConnection(stateDir: string, connection: Connection): Promise<void> {
  await mkdir(stateDir, { recursive: true, mode: 0o700 });
  await writeFile(fileOf(stateDir), `${JSON.stringify(connection)}\n`, { mode: 0o600 });
}

/** The running private stack of a state directory; undefined where there is none. */
export async function readConnection(stateDir: string): Promise<Connection | undefined> {
  const text = await readFile(fileOf(stateDir), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as Connection);
}

/** Removes what {@link saveConnection} wrote. */
export async function removeConnection(stateDir: string): Promise<void> {
  await rm(fileOf(stateDir), { force: true });
}

/** A client by options, environment, or the private stack that runs here; a {@link CliError} where none of them says. */
export async function clientFor(options: ConnectionOptions): Promise<Client> {
  const here = await readConnection(options.stateDir);
  const url = options.url ?? here?.url;
  if (!url) {
    throw new CliError(
      EXIT.unreachable,
      'No API to talk to: `echelon up` starts one here, --url (or ECHELON_URL) names another.',
    );
  }
  const token = options.token ?? (url === here?.url ? here.token : undefined);
  if (!token) throw new CliError(EXIT.refused, `No token for ${url}: pass --token or set ECHELON_TOKEN.`);
  return createClient({ url, token });
}
