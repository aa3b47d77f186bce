import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { MAX_CHILDREN } from '../../../../src/core/ids.ts';
import { DEFAULT_LIMITS, type Limits } from '../../../../src/http/server/deps.ts';
import { ADVICE } from '../../../../src/http/server/error-docs.ts';

const kilo = (bytes: number) => `${bytes / 1024} kB`;
const seconds = (ms: number) => `${ms / 1000} s`;
const of = DEFAULT_LIMITS;

/** The text of each limit in docs/guides/access.md. */
const DOCUMENTED: Record<keyof Limits, string> = {
  bodyBytes: `| request | ${kilo(of.bodyBytes)};`,
  uploadBytes: `| file to verify | request | ${of.uploadBytes / 2 ** 20} MB`,
  uploads: `| files verified at once (then 429) | key or token, each api by itself | ${of.uploads} |`,
  headerBytes: `; ${kilo(of.headerBytes)} |`,
  requestTimeoutMs: `| request | ${seconds(of.requestTimeoutMs)};`,
  handlerTimeoutMs: `; ${seconds(of.handlerTimeoutMs)} |`,
  storeTimeoutMs: `| ${seconds(of.storeTimeoutMs)}, then 503 |`,
  connectionTimeoutMs: `closed after ${seconds(of.connectionTimeoutMs)};`,
  keepAliveTimeoutMs: `; ${seconds(of.keepAliveTimeoutMs)} |`,
  requests: `| ${of.requests} in `,
  requestWindowMs: ` in ${seconds(of.requestWindowMs)} |`,
  failedSignIns: `| ${of.failedSignIns} in a minute |`,
  recomputations: `(then 503 \`verifier-busy\`) | each api process | ${of.recomputations} |`,
  streams: `| open event streams | key or token, each api by itself | ${of.streams} |`,
  allStreams: `| ${of.allStreams.toLocaleString('en')};`,
  connections: `; ${of.connections.toLocaleString('en')} |`,
  heartbeatMs: `every ${seconds(of.heartbeatMs)};`,
  streamBufferBytes: `; ${kilo(of.streamBufferBytes)}, `,
  stallMs: `, ${seconds(of.stallMs)} |`,
};

/* Fails if a limit is added or changed and not documented. */
test('every limit is a positive number, and docs/guides/access.md states its value', () => {
  const page = readFileSync(new URL('../../../../docs/guides/access.md', import.meta.url), 'utf8').split(
    '## Limits',
  )[1]!;
  for (const [name, value] of Object.entries(DEFAULT_LIMITS)) {
    assert.ok(value > 0 && Number.isFinite(value), name);
    assert.ok(page.includes(DOCUMENTED[name as keyof Limits]), `${name} is not in docs/guides/access.md`);
  }
  assert.ok(page.includes(`| children of a sweep | request | ${MAX_CHILDREN.toLocaleString('en')} |`));
  assert.match(ADVICE['body-too-large'], new RegExp(`\\b${DEFAULT_LIMITS.bodyBytes / 1024} kB`));
  assert.match(ADVICE['headers-too-large'], new RegExp(`\\b${DEFAULT_LIMITS.headerBytes / 1024} kB`));
});

test('the deadlines are ordered: store before handler, request before handler, heartbeat before connection', () => {
  assert.ok(DEFAULT_LIMITS.storeTimeoutMs > 2000);
  assert.ok(DEFAULT_LIMITS.storeTimeoutMs < DEFAULT_LIMITS.handlerTimeoutMs);
  assert.ok(DEFAULT_LIMITS.requestTimeoutMs < DEFAULT_LIMITS.handlerTimeoutMs);
  assert.ok(DEFAULT_LIMITS.heartbeatMs < DEFAULT_LIMITS.connectionTimeoutMs);
});

test('open streams use at most half of the connections', () => {
  assert.ok(DEFAULT_LIMITS.streams < DEFAULT_LIMITS.allStreams);
  assert.ok(DEFAULT_LIMITS.allStreams <= DEFAULT_LIMITS.connections / 2);
});
