// The Python environment of the checkout: Ray, what the ray-worker needs, and what the tests need. Plain JavaScript, see ../setup.mjs.
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { aptInstall, hasApt } from './apt.mjs';
import { digestOf, output, root, run, SetupError, stampOf, step } from './commands.mjs';

const venv = join(root, '.venv');
const requirements = join(root, 'deploy/ray-worker/requirements.lock');
const testRequirements = join(root, 'test/requirements.lock');

/** The interpreter of the environment. */
export const python = join(venv, 'bin/python');

/** Makes the environment, if it is not there or its requirements changed. */
export async function installPython({ tests }) {
  await installFrom(requirements, '.echelon-setup', 'downloading Ray and its Python packages (105 MB)');
  if (tests)
    await installFrom(
      testRequirements,
      '.echelon-tests',
      'downloading the Python packages of the tests (10 MB)',
    );
}

async function installFrom(file, stampName, what) {
  const stamp = join(venv, stampName);
  const wanted = digestOf(file);
  if (stampOf(stamp) === wanted) return;
  await step(what, async () => {
    await makeEnvironment();
    await installWheels(['--require-hashes', '-r', file]);
    removeJars();
    writeFileSync(stamp, wanted);
  });
}

const isUsable = () => output(python, ['-m', 'pip', '--version']) !== '';
const hasUv = () => output('uv', ['--version']) !== '';

const succeeds = (step) =>
  step.then(
    () => true,
    () => false,
  );

/**
 * With uv if the machine has it: it is many times faster, and brings a Python if there is none of a version that fits. uv does not
 * read pip's settings, so that it may not reach the package index of a machine that has its own; then Python does it.
 */
async function makeEnvironment() {
  if (isUsable()) return;
  const uv = ['venv', '--quiet', '--clear', '--seed', '--python', '>=3.11,<3.14', venv];
  if (hasUv() && (await succeeds(run('uv', uv)))) return;
  const program = findPython();
  const make = () => succeeds(run(program, ['-m', 'venv', '--clear', venv]));
  if (await make()) return;
  if (!hasApt())
    throw new SetupError(
      'this Python cannot make environments. Install uv (https://docs.astral.sh/uv/), or on Debian: sudo apt-get install python3-venv',
    );
  await aptInstall('python3-venv');
  if (!(await make())) throw new SetupError(`\`${program} -m venv\` fails, with python3-venv too`);
}

function findPython() {
  const test = 'import sys; print((3, 11) <= sys.version_info < (3, 14))';
  const names = ['python3', 'python3.13', 'python3.12', 'python3.11'];
  const found = names.find((name) => output(name, ['-c', test]) === 'True');
  if (found) return found;
  throw new SetupError(
    'Python 3.11 to 3.13 is missing. Install uv (https://docs.astral.sh/uv/), which brings one, or on Debian: apt-get install python3 python3-venv',
  );
}

/**
 * Installs wheels with `program`, by default into the environment, compiled: the many processes of a Ray node would each compile the same modules at their first
 * start, which takes longer than Ray waits for them on a busy machine of two cores.
 */
export async function installWheels(args, program = python) {
  const uv = ['pip', 'install', '--quiet', '--compile-bytecode', '--python', program, ...args];
  if (hasUv() && (await succeeds(run('uv', uv)))) return;
  await run(program, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...args]);
}

/** Ray's part for programs in Java, which nothing here starts: 33 MB. */
function removeJars() {
  const packages = output(python, ['-c', 'import sysconfig; print(sysconfig.get_path("purelib"))']);
  const jars = join(packages, 'ray/jars');
  if (packages && existsSync(jars)) rmSync(jars, { recursive: true });
}
