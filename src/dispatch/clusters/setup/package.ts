import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { zipSync } from 'fflate';

/** The ray-worker's Python package for Ray: a zip that is identical for identical files. */
export interface RayWorkerPackage {
  zip: Uint8Array;
  version: string;
}

const NAME = 'echelon_rayworker';
/** The time of every file in the zip, so that equal packages stay equal. */
const TIME = new Date('2000-01-01T00:00:00');

/** The capture, which programs of users import. These of its files are the ray-worker's own: links to them are not followed. */
const CAPTURE = 'echelon_capture';
const SHARED = {
  'batch.py': 'batch.py',
  'forms.py': 'forms.py',
  'reporter.py': 'engines/verl_agent/reporter.py',
  'rows.py': 'engines/verl_agent/rows.py',
  'step_batch.py': 'step_batch.py',
};

/**
 * Packs the `echelon_rayworker` of `directory` without compiled files, and the `echelon_capture` of the directory `capture`
 * beside it, if there is one. Throws an Error if the ray-worker's package is not there.
 */
export function packRayWorker(directory: string): RayWorkerPackage {
  const files = globSync(`${NAME}/**/*.{py,json,gz}`, { cwd: directory })
    .filter((file) => !file.includes('__pycache__'))
    .sort();
  const init = `${NAME}/__init__.py`;
  if (!files.includes(init)) throw new Error(`the Python package ${NAME} is not in ${directory}`);
  const version = /^__version__ = "([^"]+)"$/m.exec(readFileSync(join(directory, init), 'utf8'))?.[1];
  if (version === undefined) throw new Error(`${join(directory, init)} names no __version__`);
  const tree = Object.fromEntries(files.map((file) => [file, readFileSync(join(directory, file))]));
  return { zip: zipSync({ ...tree, ...captureFiles(directory) }, { mtime: TIME }), version };
}

function captureFiles(directory: string): Record<string, Uint8Array> {
  const beside = join(directory, '../capture');
  const files = globSync(`${CAPTURE}/{*.py,shared/__init__.py}`, { cwd: beside }).sort();
  if (files.length === 0) return {};
  return Object.fromEntries([
    ...files.map((file) => [file, readFileSync(join(beside, file))]),
    ...Object.entries(SHARED).map(([file, own]) => [
      `${CAPTURE}/shared/${file}`,
      readFileSync(join(directory, NAME, own)),
    ]),
  ]);
}

/** Negative, 0 or positive if version `a` is older than, equal to or newer than `b`. A part that is no number counts as 0. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) =>
    version.split('.').map((part) => Number.parseInt(part, 10) || 0),
  );
  for (let at = 0; at < Math.max(left!.length, right!.length); at += 1) {
    const difference = (left![at] ?? 0) - (right![at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
