import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CliError, EXIT } from 'command-kit/exit';
import ignore from 'ignore';

/** Which files of a folder belong to a program, as paths with `/` from the folder, sorted. */
export interface Listing {
  readonly files: readonly string[];
  /** Files that look like secrets, and what the rules of the user exclude; a folder ends with `/`. */
  readonly omitted: { readonly secrets: readonly string[]; readonly ignored: readonly string[] };
}

/** The file whose rules replace git's; its lines win over {@link SECRETS}. */
export const RULES = '.echelonignore';

const USELESS = [
  ...['.git', RULES, '.gitignore', '.venv', 'node_modules', '__pycache__', '*.pyc', '.DS_Store'],
  '.ipynb_checkpoints',
];

/** Names under which keys, tokens and passwords are kept. */
const SECRETS = [
  ...['.env', '.env.*', '*.pem', '*.key', '*.p12', '*.pfx', '*.kdbx', 'id_rsa*', 'id_dsa*', 'id_ecdsa*'],
  ...[
    'id_ed25519*',
    '.netrc',
    '.pgpass',
    '.npmrc',
    '.pypirc',
    '.git-credentials',
    '.htpasswd',
    '.aws',
    '.ssh',
  ],
  ...['.kube', '.docker', '.huggingface', '.*secret*', '*.secret', '*.token', '.token', 'token', 'token.txt'],
  ...['*_token', '*-token'],
];

const run = promisify(execFile);

/**
 * Lists a folder by the rules of its `.echelonignore`; without one by git's rules: those of git itself in a work tree, else of
 * the `.gitignore` in each folder. Files that look like secrets need a line such as `!.env.sample` in `.echelonignore`.
 *
 * @throws CliError if the folder cannot be read
 */
export async function listFolder(folder: string): Promise<Listing> {
  const own = await readRules(join(folder, RULES));
  const found = (own === undefined ? await listByGit(folder) : undefined) ?? (await walk(folder, own));
  const useless = ignore().add(USELESS);
  const secrets = ignore().add(SECRETS);
  const excluded = ignore()
    .add(SECRETS)
    .add(own ?? '');
  const files = found.files.filter((path) => !useless.ignores(path));
  return {
    files: files.filter((path) => !excluded.ignores(path)).sort(),
    omitted: {
      secrets: files.filter((path) => secrets.ignores(path) && excluded.ignores(path)).sort(),
      ignored: found.ignored.filter((path) => !useless.ignores(path)).sort(),
    },
  };
}

interface Found {
  files: string[];
  ignored: string[];
}

/** Undefined if git is not installed, or the folder is in no work tree of this user. */
async function listByGit(folder: string): Promise<Found | undefined> {
  const list = async (...options: string[]): Promise<string[]> => {
    // The setting names a program of the repository, which must not run.
    const args = ['-c', 'core.fsmonitor=false', 'ls-files', '-z', '--exclude-standard', ...options];
    const { stdout } = await run('git', args, { cwd: folder, maxBuffer: 64 << 20 });
    return stdout.split('\0').filter((path) => path !== '');
  };
  try {
    const files = await list('--cached', '--others', '--deduplicate');
    const deleted = new Set(await list('--deleted'));
    return {
      files: files.filter((path) => !deleted.has(path)),
      ignored: await list('--others', '--ignored', '--directory'),
    };
  } catch {
    return undefined;
  }
}

/** By `own` rules, or by the `.gitignore` of each folder. */
async function walk(top: string, own: string | undefined): Promise<Found> {
  const found: Found = { files: [], ignored: [] };
  type Rules = { prefix: string; matcher: ReturnType<typeof ignore> };
  async function visit(prefix: string, inherited: readonly Rules[]): Promise<void> {
    const here = own === undefined ? await readRules(join(top, prefix, '.gitignore')) : undefined;
    const rules = here === undefined ? inherited : [...inherited, { prefix, matcher: ignore().add(here) }];
    for (const entry of await entriesOf(join(top, prefix))) {
      const path = `${prefix}${entry.name}${entry.isDirectory() ? '/' : ''}`;
      const results = rules.map((one) => one.matcher.test(path.slice(one.prefix.length)));
      const last = results.findLast(({ ignored, unignored }) => ignored || unignored);
      if (last?.ignored) found.ignored.push(path);
      else if (!entry.isDirectory()) found.files.push(path);
      else if (!NEVER_ENTERED.has(entry.name)) await visit(path, rules);
    }
  }
  await visit('', [{ prefix: '', matcher: ignore().add(own ?? '') }]);
  return found;
}

const NEVER_ENTERED: ReadonlySet<string> = new Set(['.git', '.venv', 'node_modules', '__pycache__']);

function entriesOf(folder: string) {
  return readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    throw new CliError(EXIT.usage, `Cannot read the folder ${folder}: ${error.code ?? error.message}.`);
  });
}

function readRules(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch(() => undefined);
}
