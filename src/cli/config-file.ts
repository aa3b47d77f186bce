import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Static, Type } from 'typebox';
import { stringify } from 'yaml';
import { nearestName } from '../core/nearest.ts';
import { createCheck } from '../schemas/check.ts';
import { strict } from '../schemas/strict.ts';
import { CliError, EXIT } from './exit.ts';
import { readSpecFile } from './spec-file.ts';

/** The configuration file of the command line: APIs by name, and the one that is talked to. */
export const ConfigFile = Type.Object(
  {
    current: Type.Optional(
      Type.String({ description: 'Name of the context that holds where none is named' }),
    ),
    contexts: Type.Optional(
      Type.Record(
        Type.String(),
        Type.Object(
          {
            url: Type.String({ pattern: '^https?://', description: 'Address of an API' }),
            token: Type.Optional(
              Type.String({ minLength: 1, description: 'Only where nobody else may read the file' }),
            ),
            tokenFile: Type.Optional(
              Type.String({ minLength: 1, description: 'A file that holds the token; `~/` is the home' }),
            ),
          },
          strict,
        ),
      ),
    ),
  },
  strict,
);
/** See {@link ConfigFile}. */
export type ConfigFile = Static<typeof ConfigFile>;

/** An API of the file, with its token. */
export interface Context {
  name: string;
  url: string;
  token: string | undefined;
}

/** Where the file is, unless `--config` or ECHELON_CONFIG says otherwise. */
export const DEFAULT_CONFIG_FILE = join(homedir(), '.config', 'echelon', 'config.yaml');

/** The name that always means the private stack that runs here. */
export const LOCAL_CONTEXT = 'local';

const check = createCheck(ConfigFile);

/** The file's content, empty where there is none. Throws a {@link CliError} that names what is wrong in it. */
export async function readConfig(file: string): Promise<ConfigFile> {
  if ((await stat(file).catch(() => undefined)) === undefined) return {};
  const content = (await readSpecFile(file)) ?? {};
  const problems = check(content).map(({ field, message }) => `\n  ${field || 'the whole'}: ${message}`);
  if (problems.length === 0) return content as ConfigFile;
  throw new CliError(EXIT.usage, `${file} is not a configuration:${problems.join('')}`);
}

/** Replaces the file at once; only this user may read it. */
export async function writeConfig(file: string, config: ConfigFile): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const next = `${file}.${process.pid}`;
  await writeFile(next, stringify(config), { mode: 0o600 });
  await rename(next, file);
}

/**
 * The context of that name, or the current one; undefined where the private stack is meant. Throws a {@link CliError}
 * for an unknown name, and for a token that others can read.
 */
export async function contextOf(file: string, name: string | undefined): Promise<Context | undefined> {
  const { current, contexts = {} } = await readConfig(file);
  const wanted = name ?? current;
  if (wanted === undefined || wanted === LOCAL_CONTEXT) return undefined;
  const found = Object.hasOwn(contexts, wanted) ? contexts[wanted] : undefined;
  if (!found) {
    const near = nearestName(wanted, Object.keys(contexts));
    const hint = near ? `did you mean ${near}?` : '`echelon config set NAME --url URL` adds one.';
    throw new CliError(EXIT.usage, `There is no context ${JSON.stringify(wanted)} in ${file}; ${hint}`);
  }
  if (found.token !== undefined) {
    await requirePrivate(file);
    return { name: wanted, url: found.url, token: found.token };
  }
  const token = found.tokenFile === undefined ? undefined : await readToken(found.tokenFile, wanted);
  return { name: wanted, url: found.url, token };
}

async function readToken(tokenFile: string, context: string): Promise<string> {
  const file = tokenFile.replace(/^~\//, `${homedir()}/`);
  if ((await stat(file).catch(() => undefined)) === undefined)
    throw new CliError(
      EXIT.usage,
      `There is no ${file}, in which the token of ${context} should be: put it there, readable by you alone, or pass --token.`,
    );
  await requirePrivate(file);
  return (await readFile(file, 'utf8')).trim();
}

async function requirePrivate(file: string): Promise<void> {
  const { mode } = await stat(file).catch((error: Error) => {
    throw new CliError(EXIT.usage, `Cannot read the token: ${error.message}`);
  });
  if ((mode & 0o077) === 0) return;
  throw new CliError(EXIT.usage, `Others can read the token in ${file}; run: chmod 600 ${file}`);
}
