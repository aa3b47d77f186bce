/**
 * Trains with each estimator over several seeds in the local engine and writes docs/evidence/estimators.md. Arguments:
 * `--seeds N` (5), `--steps N`, `--norms`, `--json`; with fewer than 5 seeds the page is left as it is.
 */

import { spawnSync } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { RESOLVED_EXAMPLES } from '../support/resolved-examples.ts';

const root = join(import.meta.dirname, '..', '..');

/** Runs the comparison in the Python of `ECHELON_PYTHON`, else the repository's own. */
export function run(args: readonly string[]): void {
  const python = process.env.ECHELON_PYTHON ?? join(root, '.venv', 'bin', 'python');
  const { PYTHONPATH } = process.env;
  const path = [join(root, 'deploy', 'ray-worker'), ...(PYTHONPATH ? [PYTHONPATH] : [])];
  const page = join(root, 'docs', 'evidence', 'estimators.md');
  const { status, error } = spawnSync(
    python,
    [join(import.meta.dirname, 'local-estimators.py'), RESOLVED_EXAMPLES, '--write', page, ...args],
    { stdio: 'inherit', env: { ...process.env, PYTHONPATH: path.join(delimiter) } },
  );
  if (error) throw error;
  process.exitCode = status ?? 1;
}
