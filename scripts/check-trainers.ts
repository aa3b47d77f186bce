/**
 * `npm run check:trainers [-- --sources DIRECTORY] [--keep]`: verifies correct dumps that trainers' own published code wrote, by
 * version and setting. Expects no wrong row, and each planted fault found in the steps that are verified. TRL trains here on the
 * CPU; of other trainers the published functions run, if DIRECTORY has clones of their repositories (scripts/golden/published.py).
 * `--keep` verifies the dumps that are there.
 */

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { table } from 'command-kit/table';
import { sourcesOf } from '../packages/echelon-verify/src/cli/dump-files.ts';
import type { DumpAdapter, DumpStep } from '../packages/echelon-verify/src/dumps/adapter.ts';
import { type DumpReport, verifyDump } from '../packages/echelon-verify/src/verify/verify-dump.ts';

const CACHE = '.cache/trainers';
const DUMPS = join(CACHE, 'dumps');
const NEWEST = '1.16.0';
/** Packages over those of the newest version. */
const OLDER: Readonly<Record<string, readonly string[]>> = {
  '1.0.0': ['trl==1.0.0'],
  '0.28.0': [
    'trl==0.28.0',
    'transformers==4.57.6',
    'tokenizers==0.22.1',
    'huggingface_hub==0.36.0',
    'datasets==4.4.1',
  ],
};
/** Runs with rewards near 1,000,000: float32 can give advantages of twice the size there. */
const BLURRED = ['large'];

const { values } = parseArgs({
  options: { sources: { type: 'string' }, keep: { type: 'boolean', default: false } },
});
function makeDumps(): void {
  const environment = ['scripts/test/trainer-environments.sh', 'trl'];
  const python = execFileSync('bash', environment, { encoding: 'utf8' }).trim();
  train(python, NEWEST);
  for (const [version, packages] of Object.entries(OLDER)) {
    const folder = join(CACHE, `trl-${version}`);
    if (!existsSync(folder))
      run('.venv/bin/python', ['-m', 'pip', 'install', '-q', '--no-deps', '--target', folder, ...packages]);
    train(python, version, folder);
  }
  if (values.sources === undefined)
    process.stderr.write('no --sources: of the trainers only TRL is checked\n');
  else run(python, ['scripts/golden/settings.py', values.sources, DUMPS]);
}

function train(python: string, version: string, packages = ''): void {
  const command = [`PYTHONPATH=${packages}`, python, '-W', 'ignore', 'scripts/golden/trl_contexts.py'];
  run('env', [...command, join(DUMPS, `trl-${version}`)]);
}

function run(program: string, args: readonly string[]): void {
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
}

/** Changes of a step that no correct trainer makes. */
const FAULTS: readonly ((advantage: Float64Array) => Float64Array)[] = [
  (advantage) => advantage.map((a) => -a),
  (advantage) => advantage.map((a) => 2 * a),
  (advantage) => advantage.map((_, row) => advantage[(row + 1) % advantage.length]!),
];

async function verifyDumps(): Promise<number> {
  const rows: (string | number)[][] = [];
  let failed = 0;
  for (const version of readdirSync(DUMPS).sort())
    for (const setting of readdirSync(join(DUMPS, version)).sort()) {
      const result = await verifySetting(join(DUMPS, version, setting));
      const isFailed = result.wrong > 0 || (result.missed > 0 && !BLURRED.includes(setting));
      if (isFailed) failed++;
      const { steps, ok, unverified, wrong, planted, missed } = result;
      rows.push([
        version,
        setting,
        steps,
        ok,
        unverified,
        wrong,
        `${planted - missed} of ${planted}`,
        isFailed ? 'FAILED' : '',
      ]);
    }
  const head = ['trainer', 'setting', 'steps', 'ok', 'not verified', 'wrong rows', 'faults found', ''];
  process.stdout.write(`${table(head, rows)}\n${failed} of ${rows.length} settings failed\n`);
  return failed > 0 || rows.length === 0 ? 1 : 0;
}

async function verifySetting(folder: string) {
  const { sources } = await sourcesOf([folder]);
  const total = { steps: 0, ok: 0, unverified: 0, wrong: 0, planted: 0, missed: 0 };
  for (const source of sources) {
    if (!('adapter' in source)) continue;
    const { adapter, files } = source;
    const reports = await Array.fromAsync(verifyDump(adapter, files));
    total.steps += reports.length;
    for (const report of reports) {
      if (report.ok) total.ok++;
      else if (report.unverifiable > 0 || report.consistent) total.unverified++;
      total.wrong += report.wrong;
    }
    await plant(adapter, files, reports, total);
  }
  return total;
}

/**
 * Counts the faults in verified steps that have a signal, planted in all steps and in one step of the run, and those that are not
 * found: the step is neither ok nor consistent.
 */
async function plant(
  adapter: DumpAdapter,
  files: readonly string[],
  reports: readonly DumpReport[],
  total: { planted: number; missed: number },
): Promise<void> {
  const isVerified = ({ ok, signal }: DumpReport): boolean => ok && signal.rowsWithSignal > 0;
  const verified = reports.filter(isVerified).map(({ name }) => name);
  for (const fault of FAULTS) {
    for (const names of [verified, verified.slice(-1)]) {
      const changed = new Set<string>();
      const faulty = await Array.fromAsync(verifyDump(withFault(adapter, fault, names, changed), files));
      for (const [at, report] of reports.entries()) {
        if (!isVerified(report) || !changed.has(report.name)) continue;
        total.planted++;
        const { ok, consistent } = faulty[at]!;
        if (ok || consistent) total.missed++;
      }
    }
  }
}

/** The steps of these names with the fault; `changed` gets those that it changes. */
function withFault(
  adapter: DumpAdapter,
  fault: (advantage: Float64Array) => Float64Array,
  names: readonly string[],
  changed: Set<string>,
): DumpAdapter {
  const faulty = (step: DumpStep): DumpStep => {
    const { advantage, name } = step;
    if (advantage === undefined || !names.includes(name)) return step;
    const other = fault(advantage);
    if (other.some((a, row) => a !== advantage[row])) changed.add(name);
    return { ...step, advantage: other };
  };
  return {
    ...adapter,
    async *steps(files, options) {
      for await (const step of adapter.steps(files, options)) yield faulty(step);
    },
  };
}

if (!values.keep) makeDumps();
process.exitCode = await verifyDumps();
