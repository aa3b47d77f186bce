import { open, writeFile } from 'node:fs/promises';
import { release } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { examples } from 'command-kit/examples';
import { CliError, EXIT } from 'command-kit/exit';
import { json, type Output } from 'command-kit/output';
import { plural } from 'command-kit/plural';
import type { Command } from 'commander';
import { isSecretName, MASK } from '../../core/secret-patterns.ts';
import type { Client } from '../client.ts';
import { type ApiOptions, apiCommand, clientFor, readConnection } from '../connection.ts';
import { VERSION } from '../package-version.ts';
import { tarOf } from '../tar.ts';
import { hasEnded } from './clusters.ts';

/** Bytes at the end of the log that are searched for errors. */
const LOG_BYTES = 4 * 1024 * 1024;
/** Lines, experiments and audit entries. */
const MAX_ERRORS = 200;
/** Levels of the log's lines from warnings on. */
const WARNING = 40;
const PREFLIGHT_MS = 60_000;
const POLL_MS = 500;
const METRICS_MS = 10_000;

/** What the API says, by file. */
const ANSWERS: Record<string, (client: Client) => Promise<unknown>> = {
  'system.json': (client) => client.get('/v1/system', {}),
  'queue.json': (client) => client.get('/v1/queues', {}),
  'allocations.json': (client) => client.get('/v1/allocations', {}),
  'clusters.json': (client) => client.get('/v1/clusters', {}),
  'projects.json': (client) => client.get('/v1/projects', {}),
  'clock.json': (client) => client.get('/v1/clock', {}),
  'running.json': (client) =>
    client.get('/v1/experiments', { query: { state: ['running'], limit: MAX_ERRORS } }),
  'failed.json': (client) =>
    client.get('/v1/experiments', { query: { state: ['failed'], limit: MAX_ERRORS } }),
  'audit.json': (client) => client.get('/v1/audit', { query: { limit: MAX_ERRORS } }),
  'preflight.json': preflights,
};

/** `echelon support-bundle`: what others need to find a fault. */
function supportBundleCommand(output: Output): Command {
  return apiCommand('support-bundle')
    .description(
      'Write a file with what others need to find a fault: versions, settings, metrics, recent errors, the queue, allocations, and a preflight of each cluster. Secrets are masked. The token needs the scope admin.',
    )
    .argument('[file]', 'file to write. Default: echelon-support-TIME.tar.gz')
    .addHelpText('after', examples('echelon support-bundle', 'echelon support-bundle /tmp/support.tar.gz'))
    .action(async (given: string | undefined, options: ApiOptions) => {
      const { time, files, missing } = await collect(options);
      const file = given ?? `echelon-support-${new Date(time).toISOString().replace(/[:.]/g, '-')}.tar.gz`;
      await writeFile(file, gzipSync(tarOf(files, time)), { mode: 0o600, flag: 'wx' }).catch(
        (error: Error) => {
          throw new CliError(EXIT.usage, `Cannot write the bundle: ${error.message}`);
        },
      );
      if (options.json) output.line(json({ file, files: [...files.keys()], missing }));
      else output.line(`${file} has ${plural(files.size, 'file')}. Read them before you pass them on.`);
      for (const [name, why] of Object.entries(missing)) output.remark(`without ${name}: ${why}`);
    });
}

async function collect(options: ApiOptions) {
  const main = await import('../../main.ts');
  const settings = main.processSettings();
  const hidden = main.hiddenValues(settings, []);
  const local = await readConnection(options.stateDir);
  for (const value of [options.token, local?.token]) hidden.hide(value);
  const client = await clientFor(options);
  const [time, files] = [Date.now(), new Map<string, string>()];
  const missing: Record<string, string> = {};
  const parts: Record<string, () => Promise<unknown>> = {
    'versions.json': async () => ({
      echelon: VERSION,
      node: process.version,
      system: `${process.platform} ${release()}`,
    }),
    'settings.json': async () => main.shownSettings(settings),
    'metrics.txt': () => metricsOf(settings),
    'errors.txt': () => errorsOf(join(options.stateDir, 'logs', 'echelon.log')),
  };
  for (const [name, read] of Object.entries(ANSWERS)) parts[name] = () => read(client);
  for (const [name, read] of Object.entries(parts)) {
    try {
      const content = await read();
      files.set(
        name,
        hidden.redact(typeof content === 'string' ? content : JSON.stringify(content, masked, 1)),
      );
    } catch (error) {
      missing[name] = hidden.redact((error as Error).message);
    }
  }
  files.set('missing.json', json(missing));
  return { time, files, missing };
}

/** Values under a name of a secret are not shown, whatever they look like. */
const masked = (name: string, value: unknown): unknown =>
  typeof value === 'string' && isSecretName(name) ? MASK : value;

async function metricsOf({ metricsPort, metricsHosts }: { metricsPort: number; metricsHosts: string[] }) {
  if (metricsPort === 0) throw new Error('ECHELON_METRICS_PORT is not set');
  const answer = await fetch(`http://${metricsHosts[0]}:${metricsPort}/metrics`, {
    signal: AbortSignal.timeout(METRICS_MS),
  });
  return await answer.text();
}

/** The last warnings and errors of the log of `echelon up`. */
async function errorsOf(path: string): Promise<string> {
  await using file = await open(path);
  const { size } = await file.stat();
  const bytes = Buffer.alloc(Math.min(size, LOG_BYTES));
  await file.read(bytes, 0, bytes.length, size - bytes.length);
  const lines = bytes.toString().split('\n');
  const bad = lines.filter((line) => Number(/^\{"level":(\d+)/.exec(line)?.[1] ?? 0) >= WARNING);
  return bad.slice(-MAX_ERRORS).join('\n');
}

/** A preflight of each cluster that answers. One that takes longer than a minute is shown as it is then. */
async function preflights(client: Client): Promise<unknown> {
  const { items } = await client.get('/v1/clusters', {});
  return await Promise.all(
    items
      .filter(({ answering }) => answering)
      .map(async ({ name }) => {
        const deadline = Date.now() + PREFLIGHT_MS;
        let seen = await client.post('/v1/clusters/{name}/preflight', { path: { name } });
        while (!hasEnded(seen) && Date.now() < deadline) {
          await delay(POLL_MS);
          seen = await client.get('/v1/commands/{id}', { path: { id: seen.id } });
        }
        return seen;
      }),
  );
}

/** The commands of this module by their names. */
export const commands = { 'support-bundle': supportBundleCommand };
