import { access, constants, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import closeWithGrace from 'close-with-grace';
import { Command, Option } from 'commander';
import { EchelonError } from '../../core/errors.ts';
import { createClient } from '../client.ts';
import {
  isRunning,
  readConnection,
  removeConnection,
  saveConnection,
  stateDirOption,
} from '../connection.ts';
import { CliError, EXIT } from '../exit.ts';
import { pathLine } from '../launcher.ts';
import { withLifetime } from '../lifetime.ts';
import { processIdentity } from '../local/process-identity.ts';
import type { Output } from '../output.ts';

/** Commands that start and stop everything on this machine: demo, up, down. */
export function serverCommands(output: Output): Command[] {
  return [demo(output), up(output), down(output)];
}

/** Commands that run one part of a fleet: api, dispatcher. */
export function roleCommands(output: Output): Command[] {
  return [role('api', output), role('dispatcher', output)];
}

const logFileOf = (stateDir: string): string => join(stateDir, 'logs', 'echelon.log');

interface System {
  url: string;
  token: string;
  loginUrl: string;
  /** PATH of this process. */
  path: string;
  broken: Promise<string>;
}

/** The whole system on this machine: local stack, api and dispatcher, all released by `resources`. */
async function startSystem(options: {
  stateDir: string;
  /** A stack for once: a Redis of its own whatever is set, any port, nothing kept. */
  temporary: boolean;
  output: Output;
  resources: AsyncDisposableStack;
}): Promise<System> {
  const { resources, stateDir, temporary, output } = options;
  const main = await import('../../main.ts');
  const { assertPortFree } = await import('../local/processes.ts');
  const { startLocalStack } = await import('../local/stack.ts');
  const fromEnvironment = settingsOf(main);
  const settings = { ...fromEnvironment, stateDir, ...(temporary && { redisUrl: null, port: 0 }) };
  // Ray takes seconds to start; what cannot work is said before.
  await assertPortFree(settings);
  if (settings.redisUrl !== null) await main.checkStore(settings).catch(sayWhere(settings.redisUrl));
  const stack = await startLocalStack({
    stateDir,
    temporary,
    redisUrl: settings.redisUrl,
    python: settings.python,
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
    ...{ url: services.url!, token: services.token!, loginUrl: services.loginUrl! },
    path: main.processEnvironment().PATH ?? '',
    broken: stack.broken,
  };
}

type Main = typeof import('../../main.ts');

/** The settings of this process; a {@link CliError} where they are not usable. */
function settingsOf(main: Main): ReturnType<Main['processSettings']> {
  try {
    return main.processSettings();
  } catch (error) {
    throw error instanceof main.SettingsError ? new CliError(EXIT.usage, error.message) : error;
  }
}

function sayWhere(redisUrl: string): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof EchelonError)) throw error;
    // Without what may be a password.
    const place = URL.canParse(redisUrl) ? new URL(redisUrl).host : redisUrl;
    const what = error.code === 'store-unavailable' ? 'does not answer' : `cannot be used: ${error.message}`;
    throw new CliError(
      EXIT.notOk,
      `The Redis of REDIS_URL (${place}) ${what}\nWithout REDIS_URL, \`echelon up\` starts a Redis of its own.`,
    );
  };
}

function demo(output: Output): Command {
  return new Command('demo')
    .summary('run everything once, privately: train, verify, catch a fault')
    .description('run everything once, privately: train, verify, catch a fault; leaves nothing behind')
    .option('--report <file>', 'also write the table as JSON')
    .addHelpText('after', '\nExample:\n  echelon demo --report demo.json')
    .action(async ({ report }: { report?: string }) => {
      const reportFile = report === undefined ? undefined : resolve(report);
      const done = await withLifetime(
        async (resources) => {
          if (reportFile !== undefined) await requireWritable(reportFile);
          const stateDir = await mkdtemp(join(tmpdir(), 'echelon-demo-'));
          resources.defer(() => rm(stateDir, { recursive: true, force: true }));
          output.line(
            'Starting Echelon privately: its own Redis, a local Ray, a ray-worker, the api and a dispatcher.',
          );
          const system = await startSystem({ stateDir, temporary: true, output, resources });
          const broken = system.broken.then((how) => Promise.reject(new CliError(EXIT.notOk, how)));
          output.line();
          const { runDemo } = await import('../demo/demo.ts');
          const work = runDemo({ client: createClient(system), output, reportFile });
          const done = await Promise.race([work, broken]);
          output.line('\nNext: `echelon up` keeps it running.');
          tellPath(output, system.path);
          return done;
        },
        (why) => {
          if ('err' in why) throw why.err;
          throw new CliError(EXIT.notOk, `ended by ${why.signal}; nothing is left running`);
        },
      );
      const unwell = done.experiments.filter(({ state, wrong }) => state !== 'succeeded' || wrong > 0);
      if (unwell.length > 0 || !done.fault.detected)
        throw new CliError(EXIT.notOk, 'the demo did not come out as it should');
    });
}

/** Before minutes of work, not after them. */
async function requireWritable(file: string): Promise<void> {
  await access(dirname(file), constants.W_OK).catch((error: Error) => {
    throw new CliError(EXIT.usage, `The report cannot be written: ${error.message}`);
  });
}

/** What to type once, where `echelon` is no command of the shell yet. */
function tellPath(output: Output, path: string): void {
  const line = pathLine(path);
  if (line !== undefined) output.line(`\nOnce in every shell, so that \`echelon\` is a command:\n  ${line}`);
}

function up(output: Output): Command {
  return new Command('up')
    .summary('start Echelon on this machine and keep it running')
    .description('start Echelon on this machine and keep it running (Ctrl-C or `echelon down` stops it)')
    .addOption(stateDirOption())
    .addHelpText(
      'after',
      '\nUses the Redis of REDIS_URL if set, and ends if that Redis may lose accepted experiments. If not set, starts a Redis of its own.\nThe API listens on port 7077 of 127.0.0.1; ECHELON_PORT and ECHELON_HOST change that (port 0: any free one).\n\nExamples:\n  echelon up\n  ECHELON_PORT=8077 echelon up',
    )
    .action(async (options: { stateDir: string }) => {
      const stateDir = resolve(options.stateDir);
      const running = await livingConnection(stateDir);
      if (running)
        throw new CliError(
          EXIT.notOk,
          `Echelon is running already at ${running.url} (process ${running.pid}); \`echelon down\` stops it.`,
        );
      await withLifetime(
        async (resources) => {
          const system = await startSystem({ stateDir, temporary: false, output, resources });
          const { pid } = process;
          const started = processIdentity(pid);
          await saveConnection(stateDir, { url: system.url, token: system.token, pid, started });
          resources.defer(() => removeConnection(stateDir));
          output.line(`
Echelon is running.
  API        ${system.url}/v1
  docs       ${system.url}/docs
  queue      ${system.url}/queues
  token      ${system.token}
  login      ${system.loginUrl}   (once)
  log        ${logFileOf(stateDir)}

  echelon submit deploy/examples/hgpo.yaml --watch`);
          tellPath(output, system.path);
          throw new CliError(EXIT.notOk, await system.broken);
        },
        (why) => {
          if ('err' in why) throw why.err;
          output.remark(
            `\n${why.signal}: handing over and stopping; running experiments go on at the next start`,
          );
        },
      );
    });
}

async function livingConnection(stateDir: string): ReturnType<typeof readConnection> {
  const connection = await readConnection(stateDir);
  return connection && isRunning(connection) ? connection : undefined;
}

function down(output: Output): Command {
  return new Command('down')
    .summary('stop what `echelon up` started')
    .description('stop what `echelon up` started; what is queued or running goes on at the next start')
    .addOption(stateDirOption())
    .addHelpText('after', '\nExample:\n  echelon down')
    .action(async ({ stateDir }: { stateDir: string }) => {
      const connection = await livingConnection(stateDir);
      if (!connection) return output.line('Echelon is not running here.');
      output.remark(`Stopping Echelon (process ${connection.pid})`);
      process.kill(connection.pid, 'SIGTERM');
      const deadline = Date.now() + 60_000;
      while (isRunning(connection)) {
        if (Date.now() > deadline)
          throw new CliError(EXIT.notOk, `process ${connection.pid} has not ended within a minute`);
        await delay(100);
      }
      output.line('Echelon has stopped.');
    });
}

const ROLES = {
  api: {
    what: 'serve the API alone; settings come from the environment',
    example: 'echelon api',
  },
  dispatcher: {
    what: 'launch and verify experiments; settings come from the environment',
    example: 'echelon dispatcher --cluster fleet=head:7400 --cluster-token-file ray-worker.token',
  },
};

function role(name: 'api' | 'dispatcher', output: Output): Command {
  const several = (value: string, before: string[] = []): string[] => [...before, value];
  const cluster = new Option(
    '--cluster <name=address>',
    'make a ray-worker known under a name; its token is read from --cluster-token-file; may be repeated',
  ).argParser(several);
  const command = new Command(name).description(ROLES[name].what).addHelpText(
    'after',
    `
Settings: docs/reference/settings.md. Example:
  ${ROLES[name].example}`,
  );
  if (name === 'dispatcher')
    command
      .addOption(cluster)
      .option('--cluster-token-file <file>', "file that holds the ray-worker's token", several);
  return command.action(async (options: { cluster?: string[]; clusterTokenFile?: string[] }) => {
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
  });
}
