import { spawnSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Defect } from './defects.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Neither sources nor what they are made into. */
const OMITTED = ['.git', 'node_modules', '.venv', 'dist'];
const PYTEST = ['-x', '-q', '-rf', '-p', 'no:cacheprovider', '--rootdir', 'deploy/ray-worker'];
const PYTHON_PATHS = ['deploy/ray-worker', 'deploy/capture', 'deploy/python'];
/** A test that waits for what a defect prevents fails by its own name. */
const TEST_TIMEOUT_MS = 60_000;

/** A copy of the tree, in which defects are made. */
export interface Copy extends Disposable {
  /** Runs a test file; gives the name of the first test that failed, undefined if all passed. */
  firstFailure(file: string): string | undefined;
  /** Makes the edit, and gives a function that takes it back. Throws if the text does not stand there once. */
  seed(defect: Defect): () => void;
}

/** Makes a {@link Copy}. Links of workspaces in node_modules are relative, so they lead to the copy's packages. */
export function copyTree(): Copy {
  const copy = mkdtempSync(join(tmpdir(), 'echelon-seeded-'));
  for (const name of readdirSync(ROOT).filter((one) => !OMITTED.includes(one)))
    cpSync(join(ROOT, name), join(copy, name), { recursive: true, verbatimSymlinks: true });
  symlinkSync(join(ROOT, '.venv'), join(copy, '.venv'));
  const modules = join(copy, 'node_modules');
  mkdirSync(modules);
  for (const entry of readdirSync(join(ROOT, 'node_modules'), { withFileTypes: true })) {
    const own = join(ROOT, 'node_modules', entry.name);
    symlinkSync(entry.isSymbolicLink() ? readlinkSync(own) : own, join(modules, entry.name));
  }
  return {
    firstFailure(file) {
      const isPython = file.endsWith('.py');
      const [program, args] = isPython
        ? ['.venv/bin/python', ['-m', 'pytest', ...PYTEST, file]]
        : [
            process.execPath,
            [
              '--test',
              '--test-reporter=spec',
              `--test-timeout=${TEST_TIMEOUT_MS}`,
              '--test-force-exit',
              file,
            ],
          ];
      const PYTHONPATH = PYTHON_PATHS.map((path) => join(copy, path)).join(':');
      const env = { ...process.env, NO_COLOR: '1', PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH };
      const options = { cwd: copy, env, encoding: 'utf8', timeout: 5 * TEST_TIMEOUT_MS } as const;
      const { status, stdout } = spawnSync(program, args, { ...options, maxBuffer: 2 ** 28 });
      if (status === 0) return undefined;
      const failed = isPython ? /^FAILED [^:]*::(\S+)/m : /^\s*✖ (.*?) \([\d.]+ms\)/m;
      return failed.exec(stdout)?.[1] ?? `ended with ${status ?? 'a timeout'}`;
    },
    seed({ id, file, find, replace }) {
      const path = join(copy, file);
      const text = readFileSync(path, 'utf8');
      const count = text.split(find).length - 1;
      if (count !== 1) throw new Error(`${id}: ${file} has ${count} times: ${find}`);
      writeFileSync(
        path,
        text.replace(find, () => replace),
      );
      return () => writeFileSync(path, text);
    },
    [Symbol.dispose]: () => rmSync(copy, { recursive: true, force: true }),
  };
}
