import { globSync, readFileSync } from 'node:fs';

/** One or more test files that run one after another in the same process; what the runner schedules. */
export interface Item {
  /** The path of its file, or of the folder whose files it has. */
  readonly name: string;
  readonly files: readonly string[];
  /**
   * `shared`: in a process that runs further items, which loads the modules that they share once. `own`: in a process of its own.
   * `pytest`: in a Python process of its own.
   */
  readonly kind: 'shared' | 'own' | 'pytest';
  /** The trainer whose packages its tests import. */
  readonly needs?: string;
}

const NODE_FILES = ['test/{pure,service,system}/**/*.test.ts', 'packages/*/test/**/*.test.ts'];
const PYTHON_FILES = 'deploy/{ray-worker,capture,python}/tests/**/test_*.py';

/** Runs only with `--full`. */
const FULL = /(\.full\.test\.ts|_full\.py)$/;

/** Folders whose files share something expensive, which the end of their process releases: a Ray, built packages. */
const TOGETHER = ['packages/ray-client-ts/test/with-ray', 'test/service/package'];

/** Their tests change the whole process, or start most of the system. */
const OWN = /^test\/(system|service\/(faults|campaign))\//;

/** All items, sorted by name; `full` includes the files that only the full run has. */
export function findItems({ full }: { full: boolean }): Item[] {
  const wanted = (file: string): boolean => full || !FULL.test(file);
  const groups = new Map<string, string[]>();
  for (const file of globSync(NODE_FILES).filter(wanted).sort()) {
    const folder = FULL.test(file) ? undefined : TOGETHER.find((path) => file.startsWith(`${path}/`));
    const name = folder ?? file;
    groups.set(name, [...(groups.get(name) ?? []), file]);
  }
  const node = [...groups].map(([name, files]): Item => ({ name, files, kind: kindOf(name) }));
  const python = globSync(PYTHON_FILES).filter(wanted).map(pythonItem);
  return [...node, ...python].sort((a, b) => a.name.localeCompare(b.name));
}

const kindOf = (name: string): Item['kind'] => (TOGETHER.includes(name) || OWN.test(name) ? 'own' : 'shared');

/** A Python test file says in its first lines which trainer it needs: `# needs: verl`. */
function pythonItem(file: string): Item {
  const [, needs] = /^# needs: (\S+)$/m.exec(readFileSync(file, 'utf8').slice(0, 1_000)) ?? [];
  return { name: file, files: [file], kind: 'pytest', ...(needs !== undefined && { needs }) };
}
