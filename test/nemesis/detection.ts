import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Cell, DEFECTS, type Defect } from './defects.ts';

const COPIED = [
  'src',
  'packages',
  'test/support',
  'test/nemesis',
  'test/system/full',
  'proto',
  'package.json',
];
const LINKED = ['node_modules', 'deploy', 'docs', '.venv'];
const SEED = 1;
/** Copies that are tried at a time: they mostly wait. */
const TOGETHER = 3;
const TIMEOUT_MS = 150_000;

/** Whether the tests found a defect. `unclear`: they fail without it as well. */
export interface Tried {
  readonly defect: Defect;
  readonly outcome: 'found' | 'missed' | 'unclear';
}

/** Tries every defect in a copy of the sources, and its cell without the defect. `each` is called after each of them. */
export async function tryDefects(each: (tried: Tried) => void): Promise<Tried[]> {
  const clean = new Map<string, Promise<boolean>>();
  const passesWithout = ({ cell }: Defect): Promise<boolean> => {
    const name = nameOf(cell);
    const known = clean.get(name) ?? passes(cell);
    clean.set(name, known);
    return known;
  };
  const waiting = [...DEFECTS];
  const all: Tried[] = [];
  const next = async (): Promise<void> => {
    for (let defect = waiting.shift(); defect; defect = waiting.shift()) {
      const found = !(await passes(defect.cell, defect));
      const outcome = !found ? 'missed' : (await passesWithout(defect)) ? 'found' : 'unclear';
      all.push({ defect, outcome });
      each({ defect, outcome });
    }
  };
  await Promise.all(Array.from({ length: TOGETHER }, next));
  return all.toSorted((a, b) => DEFECTS.indexOf(a.defect) - DEFECTS.indexOf(b.defect));
}

/** A cell in words. */
export function nameOf(cell: Cell): string {
  if ('failpoint' in cell) return cell.failpoint;
  const { world, minutes, fault } = cell;
  return `world ${world}, ${fault === undefined ? '' : `only "${fault}", `}${minutes} minutes, seed ${SEED}`;
}

/** Runs a cell in a copy of the sources, with a defect if one is given. */
async function passes(cell: Cell, defect?: Defect): Promise<boolean> {
  const directory = mkdtempSync(join(tmpdir(), 'echelon-defect-'));
  try {
    for (const path of COPIED) cpSync(path, join(directory, path), { recursive: true });
    for (const path of LINKED) symlinkSync(join(process.cwd(), path), join(directory, path));
    if (defect) edit(join(directory, defect.file), defect);
    return await runs(directory, commandOf(cell));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Fails if the text is not there once: the list must follow the code. */
function edit(path: string, { file, from, to }: Defect): void {
  const parts = readFileSync(path, 'utf8').split(from);
  if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times: ${from}`);
  writeFileSync(path, parts.join(to));
}

function commandOf(cell: Cell): string[] {
  if ('failpoint' in cell)
    return [
      '--test',
      `--test-name-pattern=${cell.failpoint.replaceAll('.', '\\.')}$`,
      'test/system/full/failpoints.test.ts',
    ];
  const { world, minutes, fault } = cell;
  const only = fault === undefined ? [] : ['--fault', fault];
  return [
    'test/nemesis/main.ts',
    '--world',
    world,
    '--minutes',
    String(minutes),
    '--seed',
    String(SEED),
    ...only,
  ];
}

function runs(directory: string, args: string[]): Promise<boolean> {
  const env = { ...process.env, ECHELON_STARVED: 'continue', NO_COLOR: '1' };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      args,
      { cwd: directory, env, timeout: TIMEOUT_MS, maxBuffer: 1e8 },
      (error, output) => {
        if (error && process.env.ECHELON_TEST_LOG) console.log(output);
        resolve(error === null);
      },
    );
  });
}
