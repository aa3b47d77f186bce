import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createRayWorkerClient } from '../../src/rpc/client.ts';
import type { FakeDriver } from './fake-driver.ts';

const ROOT = join(import.meta.dirname, '../..');
const PACKAGE = join(ROOT, 'deploy/ray-worker');
const CAPTURE = join(ROOT, 'deploy/capture');
const PYTHON = join(ROOT, '.venv/bin/python');
const TOKEN = 'python-test-token';

/** The real ray-worker, without Ray, in a process of its own. */
export interface PythonRayWorker {
  address: string;
  token: string;
  pid(): number;
  /** Ends the server's process with SIGKILL; supervisors and drivers live. */
  kill(): Promise<void>;
  /** Starts it again on the same state directory and port. */
  start(): Promise<void>;
  /** Stops every driver, then the server. */
  stop(): Promise<void>;
}

/** Module and arguments of a driver that does what a fake driver of the same description does. */
export function pythonDriver(driver: FakeDriver): {
  module: string;
  arguments: string[];
  environment: Record<string, string>;
} {
  const { steps = 3, batchBytes = 0, logLines = 0, exitCode = 0, hang = false } = driver;
  return {
    module: 'scripted_driver',
    environment: { PYTHONPATH: join(PACKAGE, 'tests/drivers') },
    arguments: [
      'stage=training',
      `metrics=${steps}`,
      ...(logLines > 0 ? [`lines=${logLines}`] : []),
      ...(batchBytes > 0 ? [`batches=${steps}x${batchBytes}`] : []),
      ...(hang ? ['wait={attemptDir}/never'] : []),
      ...(exitCode > 0 ? [`exit=${exitCode}`] : []),
    ],
  };
}

/** Starts one on a free port; its state lives in `directory`, `environment` is added to its own;
 * `packageDirectory` holds the package `echelon_rayworker`. The caller must `stop()` it. */
export async function startPythonRayWorker(
  directory: string,
  environment: Record<string, string> = {},
  packageDirectory = PACKAGE,
): Promise<PythonRayWorker> {
  const stateDir = join(directory, 'state');
  const tokenFile = join(directory, 'token');
  await mkdir(stateDir, { recursive: true });
  await writeFile(tokenFile, TOKEN, { mode: 0o600 });
  let child = launch();
  let address = await endpointOf(child);

  function launch() {
    const options = ['--state-dir', stateDir, '--listen', '127.0.0.1:0', '--token-file', tokenFile];
    return spawn(PYTHON, ['-m', 'echelon_rayworker.server', ...options], {
      cwd: packageDirectory,
      env: { ...process.env, PYTHONPATH: CAPTURE, ...environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  }

  async function kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill(signal);
    await exit;
  }

  return {
    get address() {
      return address;
    },
    token: TOKEN,
    pid: () => child.pid ?? -1,
    kill: () => kill(),
    async start() {
      child = launch();
      address = await endpointOf(child);
    },
    async stop() {
      const client = createRayWorkerClient({ address, token: TOKEN, ca: null });
      try {
        const running = (await client.list()).filter((attempt) => attempt.running);
        const options = { gracePeriodMs: 1, reason: 'the test is over' };
        await Promise.all(running.map((item) => client.stop(item.experiment, item.attempt, options)));
      } finally {
        client.close();
        await kill('SIGTERM');
      }
    },
  };
}

async function endpointOf(child: ReturnType<typeof spawn>): Promise<string> {
  if (!child.stdout) throw new Error('no stdout');
  for await (const line of createInterface({ input: child.stdout })) {
    const endpoint = JSON.parse(line) as { address: string };
    child.stdout.resume();
    return endpoint.address;
  }
  throw new Error('the ray-worker did not start');
}
