import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { zipSync } from 'fflate';

/** The directories of the Python packages on this machine. */
export interface PythonPackages {
  rayWorker: string;
  capture: string;
}

/** The ray-worker's Python packages for Ray: a zip that is identical for identical files. */
export interface RayWorkerPackage {
  zip: Uint8Array;
  version: string;
}

const NAME = 'echelon_rayworker';
/** The capture, which the engines and programs of users import. */
const CAPTURE = 'echelon_capture';
/** The time of every file in the zip, so that equal packages stay equal. */
const TIME = new Date('2000-01-01T00:00:00');

/**
 * Packs the `echelon_rayworker` of `rayWorker` and the `echelon_capture` of `capture`, both directories, without compiled files. Throws
 * an Error if a package is not there.
 */
export function packRayWorker({ rayWorker, capture }: PythonPackages): RayWorkerPackage {
  const files = { ...filesOf(NAME, rayWorker), ...filesOf(CAPTURE, capture) };
  const init = `${NAME}/__init__.py`;
  const version = /^__version__ = "([^"]+)"$/m.exec(Buffer.from(files[init]!).toString())?.[1];
  if (version === undefined) throw new Error(`${join(rayWorker, init)} names no __version__`);
  return { zip: zipSync(files, { mtime: TIME }), version };
}

function filesOf(name: string, directory: string): Record<string, Uint8Array> {
  const files = globSync(`${name}/**/*.{py,json,gz}`, { cwd: directory })
    .filter((file) => !file.includes('__pycache__'))
    .sort();
  if (!files.includes(`${name}/__init__.py`))
    throw new Error(`the Python package ${name} is not in ${directory}`);
  return Object.fromEntries(files.map((file) => [file, readFileSync(join(directory, file))]));
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
