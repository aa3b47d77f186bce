import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { styleText } from 'node:util';
import { examples } from 'command-kit/examples';
import { CliError, EXIT } from 'command-kit/exit';
import { json, type Output } from 'command-kit/output';
import { wrapped } from 'command-kit/width';
import { Command, Option } from 'commander';
import { answer, type Check } from '../check.ts';
import { boxChecks } from './doctor-box.ts';
import { slurmChecks } from './doctor-slurm.ts';

/** `echelon doctor`: the requirements of `echelon up`, and the remedy for each that is missing. */
function doctorCommand(output: Output): Command {
  return new Command('doctor')
    .description(
      'Check the requirements of `echelon up` on this machine. The exit status is 1 if one is missing.',
    )
    .option('--json', 'print JSON')
    .addOption(
      new Option('--python <program>', 'Python that has Ray').env('ECHELON_PYTHON').default('python3'),
    )
    .option('--box', 'check also what a training with verl-agent needs of this machine')
    .option('--slurm [partition]', 'check also what `clusters add-slurm` needs of this login node')
    .addHelpText(
      'after',
      examples(
        'echelon doctor --python .venv/bin/python',
        'echelon doctor --box --python ENV/bin/python',
        'echelon doctor --slurm gpu',
      ),
    )
    .action(async (options: { json?: boolean; python: string; box?: boolean; slurm?: string | true }) => {
      const { slurm } = options;
      const { processEnvironment } = await import('../../main.ts');
      const checks = await Promise.all([
        node(),
        redis(),
        python(options.python),
        ray(options.python),
        rayWorker(options.python),
        disk(),
        ...(options.box ? [boxChecks(options.python, processEnvironment())] : []),
        ...(slurm === undefined ? [] : [slurmChecks(slurm === true ? undefined : slurm)]),
      ]).then((all) => all.flat());
      const missing = checks.filter(({ ok, warning }) => !ok && !warning).length;
      if (options.json) output.line(json({ ok: missing === 0, checks }));
      else for (const check of checks) output.line(wrapped(describe(check), output.columns));
      if (missing > 0)
        throw new CliError(
          EXIT.notOk,
          `${missing} of ${checks.length} requirements are missing. The list above has a remedy for each.`,
        );
    });
}

function describe({ name, ok, warning, found, remedy }: Check): string {
  const failed = warning ? styleText('yellow', 'warning') : styleText('red', 'MISSING');
  const mark = ok ? styleText('green', 'ok     ') : failed;
  return `${mark}  ${name.padEnd(12)} ${found}${ok ? '' : `\n         ${remedy}`}`;
}

async function node(): Promise<Check> {
  const ok = Number(process.versions.node.split('.')[0]) >= 24;
  return {
    name: 'Node',
    ok,
    found: process.versions.node,
    remedy: 'Install Node 24 or newer, or run `npm run setup` in a checkout.',
  };
}

async function redis(): Promise<Check> {
  const { findRedisServer } = await import('../local/redis-server.ts');
  const found = await findRedisServer();
  const remedy =
    'Run `npm run setup` in a checkout, install redis-server or valkey-server, or set REDIS_URL.';
  return { name: 'Redis', ok: found !== undefined, found: found ? versionOf(found) : 'none on PATH', remedy };
}

/** The version number from the server's long version line. */
function versionOf({ program, version }: { program: string; version: string }): string {
  return `${/\bv=(\S+)/.exec(version)?.[1] ?? version} (${program})`;
}

async function python(program: string): Promise<Check> {
  const code = 'import sys; print("%d.%d.%d" % sys.version_info[:3]); sys.exit(sys.version_info < (3, 10))';
  const { ok, said } = await answer(program, ['-c', code]);
  return {
    name: 'Python',
    ok,
    found: ok ? said : `${program} does not run, or is older than Python 3.10`,
    remedy: 'Install Python 3.10 or newer, or name another one with --python or ECHELON_PYTHON.',
  };
}

async function ray(program: string): Promise<Check> {
  const { PYTHON_PACKAGES } = await import('../local/stack.ts');
  const { ok, said } = await answer(program, [
    '-c',
    'import ray, grpc, numpy, google.protobuf; print(ray.__version__)',
  ]);
  return {
    name: 'Ray',
    ok,
    found: ok ? said : `not importable by ${program}`,
    remedy: `Run \`${program} -m pip install -r ${PYTHON_PACKAGES.rayWorker}/requirements.txt\`, or \`npm run setup\` in a checkout.`,
  };
}

async function rayWorker(program: string): Promise<Check> {
  const { PYTHON_PATH } = await import('../local/stack.ts');
  const code =
    'import os, sys; sys.path[:0] = sys.argv[1].split(os.pathsep); import echelon_capture, echelon_rayworker.server, echelon_rayworker as r; print(r.__version__)';
  const { ok, said } = await answer(program, ['-c', code, PYTHON_PATH]);
  return {
    name: 'ray-worker',
    ok,
    found: ok ? said : 'not importable',
    remedy: 'Install grpcio and protobuf into the Python of Ray.',
  };
}

async function disk(): Promise<Check> {
  const place = tmpdir();
  const { bavail, bsize } = await statfs(place);
  const free = (bavail * bsize) / 2 ** 30;
  return {
    name: 'disk',
    ok: free > 2,
    found: `${free.toFixed(1)} GiB free in ${place}`,
    remedy: 'Free disk space: Ray and the event logs need at least 2 GiB.',
  };
}

/** The commands of this module by their names. */
export const commands = { doctor: doctorCommand };
