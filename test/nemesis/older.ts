import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What its processes are started by: each version has its own, which know how its parts are put together. */
const SCRIPTS = ['test/support/dispatcher-process.ts', 'test/support/api-process.ts'];

/** The sources of another version. */
export interface Sources {
  readonly directory: string;
  stop(): Promise<void>;
}

/**
 * The sources of a commit, in a temporary folder with the installed dependencies of this one. Throws if there is no such
 * commit, or if it has no scripts to start its parts. The caller must `stop()` it.
 */
export function checkOut(ref: string): Sources {
  const directory = mkdtempSync(join(tmpdir(), 'echelon-older-'));
  const remove = () => rmSync(directory, { recursive: true, force: true });
  try {
    const archive = join(directory, 'sources.tar');
    execFileSync('git', ['archive', '--output', archive, ref], { stdio: 'pipe' });
    const sources = join(directory, 'sources');
    mkdirSync(sources);
    execFileSync('tar', ['-xf', archive, '-C', sources], { stdio: 'pipe' });
    const missing = SCRIPTS.filter((path) => !existsSync(join(sources, path)));
    if (missing.length > 0) throw new Error(`${ref} has no ${missing.join(' and no ')}; name a later commit`);
    for (const name of ['node_modules', '.venv'])
      if (existsSync(name)) symlinkSync(join(process.cwd(), name), join(sources, name));
    // Generated sources are not in the repository.
    execFileSync(process.execPath, ['scripts/sources.mjs'], { cwd: sources, stdio: 'pipe' });
    return { directory: sources, stop: async () => remove() };
  } catch (error) {
    remove();
    throw error;
  }
}
