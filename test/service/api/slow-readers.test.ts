import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { AttemptEvent } from '../../../src/core/events.ts';
import { running, storeFor } from '../../support/store.ts';

// A real api with the heap of a small container, and clients that request a large log and do not read it.

const TOKENS = [1, 2, 3, 4].map((key) => `token-${key}-of-the-slow-readers-0123456789`);
/** Downloads that each key begins, and those that it gets. */
const DOWNLOADS = 50;
const MOST = 4;
/** What one slow download may add to the memory of the api, in bytes. */
const EACH = 8 * 1024 * 1024;
/** Garbage that is not collected yet. */
const SLACK = 150 * 1024 * 1024;

const { server, store } = await storeFor({ after });

/** 30 MB in lines of 30 kB, 20 of them in an event: more would move to the archive. */
async function largeLog(): Promise<string> {
  const lease = await running(store);
  const lines = Array.from({ length: 20 }, () => 'x'.repeat(30_000));
  for (let first = 1; first <= 50; first += 10) {
    const events = Array.from({ length: 10 }, (_, index) => {
      const event: AttemptEvent = { type: 'log', source: 'stdout', lines, cutBytes: 0 };
      return { sequence: first + index, at: 0, event };
    });
    await store.events.append(lease, events);
  }
  return lease.experiment;
}

/** Starts the api in its own process with a heap of 512 MB and returns its address. */
async function startApi(): Promise<{ url: string; child: ChildProcess }> {
  const stateDir = await mkdtemp(join(tmpdir(), 'echelon-slow-'));
  const child = spawn(process.execPath, ['--max-old-space-size=512', 'src/cli/main.ts', 'api'], {
    env: {
      ...process.env,
      REDIS_URL: server.url,
      ECHELON_STATE_DIR: stateDir,
      ECHELON_TOKENS: TOKENS.join(','),
      ECHELON_PORT: '0',
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  after(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await rm(stateDir, { recursive: true, force: true });
  });
  let said = '';
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  // Read to its end: a full pipe would block the process.
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    said = `${said}${text}`.slice(-20_000);
    const url = /listening on (\S+)/.exec(said)?.[1];
    if (url !== undefined) resolve(url);
  });
  child.once('exit', () => reject(new Error(`the api ended: ${said}`)));
  return { url: await promise, child };
}

/** Resident memory of a process, in bytes. */
async function memoryOf({ pid }: ChildProcess): Promise<number> {
  const [, kilobytes] = /VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))!;
  return Number(kilobytes) * 1024;
}

const headersOf = (token: string) => ({ authorization: `Bearer ${token}` });

/** Sends a request, reads the head of the answer and nothing more. */
async function askAndWait(url: string, token: string): Promise<IncomingMessage> {
  const request = get(url, { headers: headersOf(token), agent: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.on('error', () => {});
  return response;
}

async function status(url: string): Promise<number> {
  const response = await fetch(url, { headers: headersOf(TOKENS[0]!) });
  await response.arrayBuffer();
  return response.status;
}

test('an api process with a heap of 512 MB stays available under slow downloads of four keys, searches and lists', async () => {
  const experiment = await largeLog();
  const { url, child } = await startApi();
  const logs = `${url}/v1/experiments/${experiment}/logs`;
  // Warm: the memory of the first download is no growth.
  assert.equal(await status(`${logs}/download`), 200);
  const before = await memoryOf(child);
  const downloads = await Promise.all(
    TOKENS.flatMap((token) => Array.from({ length: DOWNLOADS }, () => askAndWait(`${logs}/download`, token))),
  );
  const grown = (await memoryOf(child)) - before;
  const open = downloads.filter(({ statusCode }) => statusCode === 200);
  assert.deepEqual([open.length, downloads.length], [TOKENS.length * MOST, TOKENS.length * DOWNLOADS]);
  assert.ok(downloads.every(({ statusCode }) => statusCode === 200 || statusCode === 429));
  assert.ok(grown < open.length * EACH + SLACK, `the memory grew by ${Math.round(grown / 1e6)} MB`);

  const searches = await Promise.all(Array.from({ length: 20 }, () => status(`${logs}?contains=nothing`)));
  assert.ok(searches.includes(200) && searches.every((one) => one === 200 || one === 429), String(searches));
  const tails = await Promise.all(Array.from({ length: 10 }, () => status(`${logs}?tail=10000`)));
  assert.deepEqual(new Set(tails), new Set([200]));
  const lists = await Promise.all(
    Array.from({ length: 20 }, () => status(`${url}/v1/experiments?limit=200`)),
  );
  assert.deepEqual(new Set(lists), new Set([200]));

  assert.equal(await status(`${url}/healthz`), 200);
  assert.equal(child.exitCode, null);
  for (const download of downloads) download.destroy();
});
