import { globSync, readFileSync } from 'node:fs';

/** A test file; what the runner schedules. */
export interface Item {
  /** Its path. */
  readonly name: string;
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

/** Their tests change the whole process, start most of the system, or use what only the end of a process releases. */
const OWN =
  /^(test\/(system|service\/(faults|campaign|package|scripts))|packages\/ray-client-ts\/test\/with-\w+)\//;

/** All items, sorted by name; `full` includes the files that only the full run has. */
export function findItems({ full }: { full: boolean }): Item[] {
  const node = globSync(NODE_FILES).map((name): Item => ({ name, kind: OWN.test(name) ? 'own' : 'shared' }));
  const all = [...node, ...globSync(PYTHON_FILES).map(pythonItem)];
  return all.filter(({ name }) => full || !FULL.test(name)).sort((a, b) => a.name.localeCompare(b.name));
}

/** The test files that docs/evidence/attacks.md names, which therefore are all attacks that are played. */
export function attackFiles(): string[] {
  const page = readFileSync('docs/evidence/attacks.md', 'utf8');
  return [...page.matchAll(/`([\w./-]+\/[\w.-]+\.test\.ts|[\w./-]+\/test_\w+\.py)`/g)].map(
    ([, name]) => name!,
  );
}

/** A Python test file says in its first lines which trainer it needs: `# needs: verl`. */
function pythonItem(name: string): Item {
  const [, needs] = /^# needs: (\S+)$/m.exec(readFileSync(name, 'utf8').slice(0, 1_000)) ?? [];
  return { name, kind: 'pytest', ...(needs !== undefined && { needs }) };
}
