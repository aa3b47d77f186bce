// The door of every npm script: sets up what is missing, then runs the task on Node 24. Plain JavaScript, see setup.mjs.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { isolation } from './isolation.mjs';
import { openRelay } from './relay.mjs';
import { root, SetupError } from './setup/commands.mjs';
import { setup } from './setup.mjs';

const CLI = 'bin/start.mjs';
const RELAY = new URL('relay.mjs', import.meta.url).href;

/**
 * What each task runs, whether it gets a network of its own with nothing but loopback, and whether browsers outside of
 * that network reach its port.
 */
const TASKS = {
  setup: undefined,
  echelon: { program: CLI, isolated: false },
  up: { program: CLI, args: ['up'], isolated: false },
  demo: { program: CLI, args: ['demo'], isolated: true, relayed: true },
  test: { program: 'scripts/test.ts', isolated: true },
  'test:full': { program: 'scripts/test.ts', args: ['--full'], isolated: true },
  'test:attacks': { program: 'scripts/test.ts', args: ['--attacks'], isolated: true },
  'test:nemesis': { program: 'test/nemesis/main.ts', isolated: true },
  'test:clusters': { program: 'test/nemesis/clusters/main.ts', isolated: true },
  bench: { program: 'test/bench/main.ts', isolated: true },
  check: { program: 'scripts/check.ts', isolated: false },
  'check:packages': { program: 'scripts/check-packages.ts', isolated: false },
  'check:trainers': { program: 'scripts/check-trainers.ts', isolated: false },
  'check:verl-agent': { program: 'scripts/check-verl-agent.ts', isolated: true },
  build: { program: 'scripts/build.ts', isolated: false },
  release: { program: 'scripts/release.ts', isolated: false },
  generate: { program: 'scripts/generate.ts', isolated: false },
  pages: { program: 'scripts/generate/pages.ts', isolated: false },
};

function commandFor(task, args, { node, python }) {
  const command = [node, join(root, task.program), ...(task.args ?? []), ...args];
  const asksForHelp = args.includes('--help') || args.includes('-h');
  if (!task.isolated || asksForHelp || process.env.ECHELON_ISOLATED) return command;
  const wrap = isolation(python);
  if (wrap) return [...wrap, ...command];
  process.stderr.write(
    "note: network namespaces are not permitted here, so this runs in the machine's own network. Ray may then listen\n" +
      '      on the address of a network interface; it is protected by a generated token.\n',
  );
  return command;
}

/** Files on the command line are the caller's: npm runs its scripts in the checkout and passes on the directory of the call. */
function directoryOf({ program }) {
  const called = process.env.INIT_CWD;
  return program === CLI && called && existsSync(called) ? called : root;
}

/** Makes the port of an isolated task reachable: the command with its port, and the variable for its end of the relay. */
async function relayed([program, ...rest], node) {
  const given = rest.indexOf('--port');
  const relay = await openRelay(given < 0 ? 0 : Number(rest[given + 1]));
  const withImport = rest.flatMap((word) => (word === node ? [word, '--import', RELAY] : [word]));
  const port = given < 0 ? ['--port', String(relay.port)] : [];
  return { command: [program, ...withImport, ...port], variables: { ECHELON_RELAY: JSON.stringify(relay) } };
}

function makeTrainers() {
  const { status } = spawnSync('scripts/test/trainer-environments.sh', ['all'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) throw new SetupError('the packages of the trainers could not be installed; see above');
}

/** True for `npm run setup -- --no-python`, for those whose trainer brings the Python of Ray. */
function wantsOwnPython(args) {
  const unknown = args.find((word) => word !== '--no-python');
  if (unknown !== undefined)
    throw new SetupError(
      `unknown option ${unknown}; the only one is --no-python: no Python environment with Ray is made`,
    );
  return args.length > 0;
}

async function main() {
  const [name, ...args] = process.argv.slice(2);
  if (!Object.hasOwn(TASKS, name))
    throw new SetupError(`unknown task ${name}; one of ${Object.keys(TASKS).join(', ')}`);
  const ownPython = name === 'setup' && wantsOwnPython(args);
  const ready = await setup({ tests: ['test', 'test:full', 'test:attacks'].includes(name), ownPython });
  if (name === 'test:full' && !args.includes('--help')) makeTrainers(); // before the network is given up
  const task = TASKS[name];
  if (!task) {
    process.stderr.write('setup: everything is there; for the command `echelon` in this shell:\n');
    return process.stdout.write(`export PATH="${join(root, 'bin')}:$PATH"\n`);
  }
  const plain = commandFor(task, args, ready);
  const isolated = plain[0] === 'unshare';
  const { command, variables } =
    isolated && task.relayed ? await relayed(plain, ready.node) : { command: plain, variables: {} };
  const [program, ...rest] = command;
  const forIsolated = isolated ? { ECHELON_ISOLATED: '1', ...variables } : {};
  const env = { ...process.env, PATH: ready.path, ECHELON_PYTHON: ready.python, ...forIsolated };
  const child = spawn(program, rest, { stdio: 'inherit', env, cwd: directoryOf(task) });
  // A terminal sends its signals to the whole group; one sent to this process alone must be handed on.
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  process.on('SIGINT', () => {});
  // npm hands SIGTERM to a shell between it and this process, which ends and says nothing.
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && child.kill('SIGTERM'), 500).unref();
  child.on('error', (error) => fail(new SetupError(`could not run ${program}: ${error.message}`)));
  child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
}

function fail(error) {
  process.stderr.write(error instanceof SetupError ? `setup: ${error.message}\n` : `${error.stack}\n`);
  process.exit(1);
}

main().catch(fail);
