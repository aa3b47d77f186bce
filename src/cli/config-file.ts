import { mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { CliError, EXIT } from 'command-kit/exit';
import { nearestName } from 'command-kit/nearest';
import type { ConfigFile } from './config-schema.ts';

/** An API of the configuration file, with its token. */
interface Context {
  name: string;
  url: string;
  token: string | undefined;
}

/** Default of `--config`. */
export const DEFAULT_CONFIG_FILE = join(homedir(), '.config', 'echelon', 'config.yaml');

/** The name that always means the API of the local `echelon up`. */
export const LOCAL_CONTEXT = 'local';

const exists = async (file: string): Promise<boolean> =>
  (await stat(file).catch(() => undefined)) !== undefined;

/** The content of the file, empty if it does not exist. Throws a {@link CliError} that lists what is invalid in it. */
export async function readConfig(file: string): Promise<ConfigFile> {
  if (!(await exists(file))) return {};
  // Most commands have no such file, and start faster without a validator.
  const [{ checkConfig }, { readSpecFile }] = await Promise.all([
    import('./config-schema.ts'),
    import('./spec-file.ts'),
  ]);
  const content = (await readSpecFile(file)) ?? {};
  const problems = checkConfig(content).map(({ field, message }) => `\n  ${field || 'the file'}: ${message}`);
  if (problems.length === 0) return content as ConfigFile;
  throw new CliError(EXIT.usage, `${file} is not a valid configuration:${problems.join('')}`);
}

/** Replaces the file in one step; only this user may read it. */
export async function writeConfig(file: string, config: ConfigFile): Promise<void> {
  const { stringify } = await import('yaml');
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const next = `${file}.${process.pid}`;
  await writeFile(next, stringify(config), { mode: 0o600 });
  await rename(next, file);
}

/**
 * The context of that name, or the current one; undefined for the local `echelon up`. Throws a {@link CliError} for an
 * unknown name, and for a token that other users can read.
 */
export async function contextOf(file: string, name: string | undefined): Promise<Context | undefined> {
  const { current, contexts = {} } = await readConfig(file);
  const wanted = name ?? current;
  if (wanted === undefined || wanted === LOCAL_CONTEXT) return undefined;
  const found = Object.hasOwn(contexts, wanted) ? contexts[wanted] : undefined;
  if (!found) {
    const near = nearestName(wanted, Object.keys(contexts));
    const hint = near ? `Did you mean ${near}?` : 'Add it with `echelon config set NAME --url URL`.';
    throw new CliError(EXIT.usage, `There is no context ${JSON.stringify(wanted)} in ${file}. ${hint}`);
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
  if (!(await exists(file)))
    throw new CliError(
      EXIT.usage,
      `The token file of context ${context}, ${file}, does not exist. Create it with mode 600, or give --token.`,
    );
  await requirePrivate(file);
  return (await readFile(file, 'utf8')).trim();
}

async function requirePrivate(file: string): Promise<void> {
  const { mode } = await stat(file).catch((error: Error) => {
    throw new CliError(EXIT.usage, `Cannot read the token: ${error.message}`);
  });
  if ((mode & 0o077) === 0) return;
  throw new CliError(EXIT.usage, `Other users can read the token in ${file}. Run: chmod 600 ${file}`);
}
