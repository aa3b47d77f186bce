import { access, constants, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import closeWithGrace from 'close-with-grace';
import { wholeNumber } from 'command-kit/arguments';
import { examples } from 'command-kit/examples';
import { CliError, EXIT } from 'command-kit/exit';
import { json, type Output } from 'command-kit/output';
import { Command } from 'commander';
import { EchelonError } from '../../core/errors.ts';
import { createClient } from '../client.ts';
import {
  isRunning,
  readConnection,
  removeConnection,
  saveConnection,
  stateDirOption,
} from '../connection.ts';
import { pathLine } from '../launcher.ts';
import { withLifetime } from '../lifetime.ts';
import { startDetached, tellStarter } from '../local/detached.ts';
import { processIdentity } from '../local/processes.ts';
import type { DemoReport } from './demo/demo.ts';

const logFileOf = (stateDir: string): string => join(stateDir, 'logs', 'echelon.log');
/** What `echelon up --detach` prints besides. */
const outputFileOf = (stateDir: string): string => join(stateDir, 'logs', 'up.log');

/** A system on this machine. */
export interface System {
  url: string;
  token: string;
  /** Where the token is kept: a screen or a log of it would show all rights. */
  tokenPlace: string;
  /** A login link, and how long it is valid. */
  dashboard: string;
  /** PATH of this process. */
  path: string;
  broken: Promise<string>;
}

/** The whole system on this machine: local stack, api and dispatcher, all released by `resources`. */
async function startSystem(options: {
  stateDir: string;
  /** A stack for one run: its own Redis whatever REDIS_URL says, this port, no data kept. */
  temporary: false | { port: number };
  /** Python that has Ray; default: the setting. */
  python?: string | undefined;
  output: Output;
  resources: AsyncDisposableStack;
}): Promise<System> {
  const { resources, stateDir, temporary, output } = options;
  const main = await import('../../main.ts');
  const { assertPortFree } = await import('../local/processes.ts');
  const { startLocalStack } = await import('../local/stack.ts');
  const fromEnvironment = settingsOf(main);
  const settings = { ...fromEnvironment, stateDir, ...(temporary && { redisUrl: null, ...temporary }) };
  // Ray takes seconds to start, so this checks first what can be checked.
  await assertPortFree(settings);
  if (settings.redisUrl !== null)
    await main.checkStore(settings).catch(rethrowWithAddress(settings.redisUrl));
  const stack = await startLocalStack({
    stateDir,
    temporary: temporary !== false,
    redisUrl: settings.redisUrl,
    python: options.python ?? settings.python,
    environment: main.processEnvironment(),
    resources,
    progress: (text) => output.remark(`  ${text}`),
  });
  output.remark('  starting the ray-worker');
  const services = await main.startServices({
    roles: ['api', 'dispatcher'],
    settings,
    redis: stack.redis,
    clusters: [stack.cluster],
    logFile: logFileOf(stateDir),
  });
  resources.defer(() => services.stop());
  return {
    url: services.url!,
    token: services.token!,
    tokenPlace: settings.tokens.length > 0 ? 'the first of ECHELON_TOKENS' : `in ${join(stateDir, 'token')}`,
    dashboard: `${services.loginUrl}   (valid once, for ${services.loginMinutes} minutes)`,
    path: main.processEnvironment().PATH ?? '',
    broken: stack.broken,
  };
}

type Main = typeof import('../../main.ts');

/** The settings of this process. Throws a {@link CliError} if they are invalid. */
function settingsOf(main: Main): ReturnType<Main['processSettings']> {
  try {
    return main.processSettings();
  } catch (error) {
    throw error instanceof main.SettingsError ? new CliError(EXIT.usage, error.message) : error;
  }
}

function rethrowWithAddress(redisUrl: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof EchelonError)) throw error;
    // The URL may hold a password.
    const place = URL.canParse(redisUrl) ? new URL(redisUrl).host : redisUrl;
    const what = error.code === 'store-unavailable' ? 'does not answer.' : `cannot be used: ${error.message}`;
    throw new CliError(
      EXIT.notOk,
      `The Redis of REDIS_URL (${place}) ${what}\nUnset REDIS_URL, and \`echelon up\` starts its own Redis.`,
    );
  };
}

/** `echelon demo`: everything once, on this machine. */
function demoCommand(output: Output): Command {
  return new Command('demo')
    .description(
      'Run everything once on this machine: compare three estimators over four seeds, verify every batch, and detect a wrong one. It takes a few minutes and removes all its files and processes.',
    )
    .option('--report <file>', 'also write the results as JSON')
    .option('--keep', 'leave everything running until Ctrl-C')
    .option('--port <port>', 'port of the dashboard; 0: any free port', wholeNumber(0, 65535), 0)
    .addHelpText('after', examples('echelon demo --report demo.json', 'echelon demo --keep'))
    .action(async ({ report, keep = false, port }: { report?: string; keep?: boolean; port: number }) => {
      const reportFile = report === undefined ? undefined : resolve(report);
      let done: DemoReport | undefined;
      await withLifetime(
        async (resources) => {
          if (reportFile !== undefined) await requireWritable(reportFile);
          const stateDir = await mkdtemp(join(tmpdir(), 'echelon-demo-'));
          resources.defer(() => rm(stateDir, { recursive: true, force: true }));
          output.line('Starting a private Echelon: Redis, Ray, a ray-worker, the API and a dispatcher.');
          const system = await startSystem({ stateDir, temporary: { port }, output, resources });
          output.line(`\nWatch it in the dashboard:\n  ${system.dashboard}`);
          const broken = system.broken.then((how) => Promise.reject(new CliError(EXIT.notOk, how)));
          output.line();
          const { runDemo } = await import('./demo/demo.ts');
          const work = runDemo({ client: createClient(system), output, reportFile });
          done = await Promise.race([work, broken]);
          output.line('\nNext: `echelon up` starts Echelon and keeps it running.');
          printPathHint(output, system.path);
          if (!keep) return;
          output.line(`\nThe dashboard stays at ${system.url} until Ctrl-C.`);
          await broken;
        },
        (why) => {
          if ('err' in why) throw why.err;
          if (done !== undefined) return output.remark(`\n${why.signal}: stopping; all files are removed`);
          throw new CliError(
            EXIT.notOk,
            `The demo was stopped by ${why.signal}. All its processes have ended.`,
          );
        },
      );
      const problems = demoProblems(done!);
      if (problems.length > 0) throw new CliError(EXIT.notOk, `The demo failed:\n  ${problems.join('\n  ')}`);
    });
}

/** Why the results of a demo are not as expected; none if they are. */
function demoProblems({ experiments, fault }: DemoReport): string[] {
  return [
    ...experiments
      .filter(({ state }) => state !== 'succeeded')
      .map(({ name, state }) => `Experiment "${name}" ended as ${state}; expected: succeeded.`),
    ...experiments
      .filter(({ wrong }) => wrong > 0)
      .map(
        ({ name, wrong, rows }) => `Experiment "${name}" has ${wrong} wrong rows of ${rows}; expected: 0.`,
      ),
    ...(fault.detected ? [] : ['The planted fault was not detected; expected: wrong rows.']),
  ];
}

/** Fails before minutes of work, not after them. */
async function requireWritable(file: string): Promise<void> {
  await access(dirname(file), constants.W_OK).catch((error: Error) => {
    throw new CliError(EXIT.usage, `Cannot write the report ${file}: ${error.message}`);
  });
}

/** The command that makes `echelon` a command of the shell, if it is not one. */
function printPathHint(output: Output, path: string): void {
  const line = pathLine(path);
  if (line !== undefined)
    output.line(`\nRun this once per shell, so that \`echelon\` is a command:\n  ${line}`);
}

/** `echelon up`: Echelon on this machine. */
function upCommand(output: Output): Command {
  return new Command('up')
    .description(
      'Start Echelon on this machine and keep it running until Ctrl-C or `echelon down`. It uses the Redis of REDIS_URL, and ends if that Redis may lose accepted experiments; without REDIS_URL it starts its own. The API listens on 127.0.0.1:7077; ECHELON_HOST and ECHELON_PORT change that (port 0: any free port).',
    )
    .addOption(stateDirOption())
    .option(
      '--python <program>',
      'Python that has Ray, such as the one of your trainer (default: ECHELON_PYTHON)',
    )
    .option('-d, --detach', 'leave it running after the terminal is closed')
    .addHelpText(
      'after',
      examples('echelon up', 'echelon up --detach --python ENV/bin/python', 'ECHELON_PORT=8077 echelon up'),
    )
    .action((options: UpOptions) => runUp(options, output));
}

/** Starts Echelon unless it runs here; resolves when it has been stopped, or with `detach` when it is ready. */
async function runUp({ python, detach, ...options }: UpOptions, output: Output): Promise<void> {
  const stateDir = resolve(options.stateDir);
  const running = await runningConnection(stateDir);
  if (running)
    throw new CliError(
      EXIT.notOk,
      `Echelon already runs at ${running.url} (process ${running.pid}). Stop it with \`echelon down\`.`,
    );
  if (detach) return await upDetached({ stateDir, python }, output);
  const told: Output = {
    ...output,
    remark: (text) => void (tellStarter({ remark: text }) || output.remark(text)),
  };
  await withLifetime(
    async (resources) => {
      const system = await startSystem({ stateDir, temporary: false, python, output: told, resources });
      const { pid } = process;
      const started = processIdentity(pid);
      await saveConnection(stateDir, { url: system.url, token: system.token, pid, started });
      resources.defer(() => removeConnection(stateDir));
      const text = runningText(system, logFileOf(stateDir));
      if (!tellStarter({ ready: text })) output.line(text);
      printPathHint(output, system.path);
      throw new CliError(EXIT.notOk, await system.broken);
    },
    (why) => {
      if ('err' in why) throw why.err;
      output.remark(`\n${why.signal}: stopping; running experiments continue at the next start`);
    },
  );
}

interface UpOptions {
  stateDir: string;
  python?: string;
  detach?: boolean;
}

/** `echelon up --detach`: the same command in a session of its own. Ctrl-C before it is ready ends it. */
async function upDetached(
  { stateDir, python }: { stateDir: string; python?: string | undefined },
  output: Output,
): Promise<void> {
  const interrupted = new AbortController();
  const given = python === undefined ? [] : ['--python', python];
  const ready = await withLifetime(
    async () =>
      await startDetached({
        args: ['up', '--state-dir', stateDir, ...given],
        logFile: outputFileOf(stateDir),
        signal: interrupted.signal,
        progress: (text) => output.remark(text),
      }),
    (why) => {
      interrupted.abort();
      throw 'err' in why ? why.err : new CliError(EXIT.notOk, `${why.signal}: stopped before it was ready`);
    },
  );
  output.line(ready);
  output.line(
    '\nIt runs on after this terminal is closed: `echelon status` shows it, `echelon down` stops it.',
  );
}

/** `echelon status`: whether `echelon up` runs here. */
function statusCommand(output: Output): Command {
  return new Command('status')
    .description('Show whether `echelon up` runs here. The exit status is 1 if it does not.')
    .addOption(stateDirOption())
    .option('--json', 'print JSON')
    .addHelpText('after', examples('echelon status'))
    .action(async ({ stateDir: given, ...options }: { stateDir: string; json?: boolean }) => {
      const stateDir = resolve(given);
      const running = await runningConnection(stateDir);
      if (!running)
        throw new CliError(
          EXIT.notOk,
          `Echelon does not run in ${stateDir}. Start it with \`echelon up --detach\`.`,
        );
      const { url, pid } = running;
      const status = { url, pid, ...(await readiness(url)), log: logFileOf(stateDir) };
      if (options.json) output.line(json(status));
      else for (const [name, value] of Object.entries(status)) output.line(`${name.padEnd(8)} ${value}`);
      if (!status.ready) throw new CliError(EXIT.notOk, 'Echelon runs, but it is not ready.');
    });
}

/** What the api says of itself; not ready if it does not answer. */
async function readiness(url: string): Promise<{ ready: boolean; reason?: string }> {
  try {
    const answer = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) });
    return answer.ok ? { ready: true } : { ready: false, reason: await answer.text() };
  } catch (error) {
    return { ready: false, reason: (error as Error).message };
  }
}

/** What `echelon up` says once it runs. Screens and logs of it do not show the token. */
export function runningText({ url, tokenPlace, dashboard }: System, logFile: string): string {
  return `
Echelon is running.
  API        ${url}/v1
  docs       ${url}/docs
  queue      ${url}/queues
  token      ${tokenPlace}
  dashboard  ${dashboard}; \`echelon open\` makes another link
  log        ${logFile}

  echelon submit deploy/examples/hgpo.yaml --watch`;
}

async function runningConnection(stateDir: string): ReturnType<typeof readConnection> {
  const connection = await readConnection(stateDir);
  return connection && isRunning(connection) ? connection : undefined;
}

/** `echelon down`: stops `echelon up`. */
function downCommand(output: Output): Command {
  return new Command('down')
    .description('Stop `echelon up`. Queued and running experiments continue at the next start.')
    .addOption(stateDirOption())
    .addHelpText('after', examples('echelon down'))
    .action(async ({ stateDir }: { stateDir: string }) => {
      const connection = await runningConnection(stateDir);
      if (!connection) return output.line('Echelon is not running here.');
      output.remark(`Stopping Echelon (process ${connection.pid})`);
      process.kill(connection.pid, 'SIGTERM');
      const deadline = Date.now() + 60_000;
      while (isRunning(connection)) {
        if (Date.now() > deadline)
          throw new CliError(
            EXIT.notOk,
            `Process ${connection.pid} has not ended within a minute. See its log, ${logFileOf(stateDir)}.`,
          );
        await delay(100);
      }
      output.line('Echelon has stopped.');
    });
}

/** `echelon api`: one part of a fleet. */
export function apiServerCommand(output: Output): Command {
  return new Command('api')
    .description(
      'Run the API server of a fleet. Settings come from the environment; the documentation lists them under Settings.',
    )
    .addHelpText('after', examples('echelon api'))
    .action(() => runRole('api', {}, output));
}

/** `echelon dispatcher`: one part of a fleet. */
export function dispatcherCommand(output: Output): Command {
  const several = (value: string, before: string[] = []): string[] => [...before, value];
  return new Command('dispatcher')
    .description(
      'Run a dispatcher of a fleet: it launches and verifies experiments. Settings come from the environment; the documentation lists them under Settings.',
    )
    .option('--cluster <name=address>', 'name and address of a ray-worker; repeatable', several)
    .option(
      '--cluster-token-file <file>',
      'file with the token of the ray-worker; one per --cluster',
      several,
    )
    .addHelpText(
      'after',
      examples('echelon dispatcher --cluster fleet=head:7400 --cluster-token-file ray-worker.token'),
    )
    .action((options: RoleOptions) => runRole('dispatcher', options, output));
}

interface RoleOptions {
  cluster?: string[];
  clusterTokenFile?: string[];
}

async function runRole(name: 'api' | 'dispatcher', options: RoleOptions, output: Output): Promise<void> {
  const main = await import('../../main.ts');
  const settings = settingsOf(main);
  const clusters = await main.namedClusters(options);
  const services = await main.startServices({ roles: [name], settings, redis: null, clusters });
  const ended = Promise.withResolvers<void>();
  closeWithGrace({ delay: 30_000 }, async ({ err }) => {
    if (err) output.remark(String(err.stack));
    await services.stop();
    ended.resolve();
  });
  output.remark(services.url ? `listening on ${services.url}` : 'dispatching');
  await ended.promise;
}

/** The commands of this module by their names. */
export const commands = {
  demo: demoCommand,
  up: upCommand,
  down: downCommand,
  status: statusCommand,
  api: apiServerCommand,
  dispatcher: dispatcherCommand,
};
