import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { ActorHandle } from '../../src/actor.ts';
import { actorClass, functionRef } from '../../src/code.ts';
import { connect } from '../../src/connect.ts';
import type { RayConnection } from '../../src/connection.ts';
import { RayPythonError, RayTimeoutError } from '../../src/errors.ts';
import { ONE_NODE, type RayHead, rayPython, startRayHead } from '../support/ray-head.ts';

interface Operation {
  readonly name: string;
  readonly do: string;
  readonly value?: unknown;
  readonly code: string;
  readonly args?: unknown[];
  readonly kwargs?: Record<string, unknown>;
  readonly options?: Record<string, unknown>;
  readonly then?: unknown[];
  readonly timeout?: number;
  readonly calls?: [string, ...unknown[]][];
  readonly actor?: string;
}

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const operations = JSON.parse(readFileSync(here('operations.json'), 'utf8')) as Operation[];
const limit = { timeoutMs: 120_000 };

let head: RayHead;
let ray: RayConnection;
let python: Record<string, unknown>;

before(async () => {
  head = await startRayHead(ONE_NODE);
  const command = [here('client.py'), head.address, here('operations.json')];
  const environment = { ...process.env, ...head.environment };
  const { stdout } = await promisify(execFile)(rayPython(), command, {
    env: environment,
    maxBuffer: 2 ** 26,
  });
  python = JSON.parse(stdout) as Record<string, unknown>;
  ray = await connect(head.address, { ...head.credentials, namespace: 'contract', selfTest: false });
});
after(async () => {
  await ray?.close();
  await head?.[Symbol.asyncDispose]();
});

describe("Python's Ray Client and this one give the same result", () => {
  for (const operation of operations) {
    test(operation.name, async () => {
      const ours = await outcome(() => run(operation));
      assert.deepEqual(JSON.parse(JSON.stringify(ours)), python[operation.name]);
    });
  }
});

async function run(operation: Operation): Promise<unknown> {
  const args = (operation.args ?? []).map(decode);
  switch (operation.do) {
    case 'put-get':
      return ray.get(await ray.put(decode(operation.value)), limit);
    case 'task':
      return ray.call(functionRef(operation.code), args, {
        kwargs: operation.kwargs ?? {},
        ...camel(operation.options),
        timeoutMs: (operation.timeout ?? 60) * 1000,
      });
    case 'chain': {
      const first = await ray.task(functionRef(operation.code), args);
      return ray.call(functionRef(operation.code), [first, ...(operation.then ?? [])], limit);
    }
    case 'actor': {
      const actor = await ray.createActor(actorClass(operation.code), args, camel(operation.options));
      const results = await callAll(actor, operation.calls ?? []);
      await actor.kill();
      return results;
    }
    case 'named':
      return runNamed(operation, args);
    case 'lookup':
      return ray.getActor(operation.actor ?? '');
    case 'kv':
      return runKv();
    default:
      return runCluster();
  }
}

async function runNamed(operation: Operation, args: unknown[]): Promise<unknown> {
  const options = { name: 'contract', lifetime: 'detached' } as const;
  await (await ray.createActor(actorClass(operation.code), args, options)).ready(limit);
  const found = await ray.getActor('contract');
  const results = await callAll(found, [['add'], ['add', 4]]);
  const names = (await ray.namedActors()).map(({ name }) => name);
  await found.kill();
  // Ray kills in its own time: until then the actor answers.
  for (;;) {
    const [last] = await callAll(found, [['add']]);
    if (!Object.hasOwn(last as object, 'value')) return [results, names, last];
  }
}

async function runKv(): Promise<unknown> {
  const { kv } = ray;
  const at = { namespace: 'contract' };
  return [
    (await kv.get('k', at)) ?? null,
    await kv.put('k', 'one', { ...at, overwrite: false }),
    await kv.put('k', 'two', { ...at, overwrite: false }),
    await kv.get('k', at),
    await kv.put('k', '', at),
    await kv.get('k', at),
    await kv.exists('k', at),
    await kv.list('', at),
    await kv.del('k', at),
    await kv.exists('k', at),
  ];
}

async function runCluster(): Promise<unknown> {
  const resources = await ray.clusterResources();
  const nodes = await ray.nodes();
  return [nodes.map((node) => [node.alive, node.address, node.resources.CPU]), resources.CPU, resources.GPU];
}

async function callAll(actor: ActorHandle, calls: [string, ...unknown[]][]): Promise<unknown[]> {
  const results: unknown[] = [];
  for (const [method, ...args] of calls) {
    results.push(await outcome(() => actor.call(method, args.map(decode), limit)));
  }
  return results;
}

async function outcome(act: () => Promise<unknown>): Promise<unknown> {
  try {
    return { value: encode(await act()) };
  } catch (error) {
    if (error instanceof RayTimeoutError) return { error: 'GetTimeoutError', message: null };
    if (!(error instanceof RayPythonError)) throw error;
    const own =
      error.pythonModule.startsWith('ray') || ['AttributeError', 'TypeError'].includes(error.pythonType);
    return { error: error.pythonType, message: own ? null : error.pythonMessage };
  }
}

function camel(options: Record<string, unknown> = {}): Record<string, unknown> {
  const name = (key: string): string => key.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(options).map(([key, value]) => [name(key), value]));
}

function decode(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(decode);
  if (typeof value !== 'object' || value === null) return value;
  if ('$bytes' in value) return Buffer.from(String(value.$bytes), 'hex');
  if ('$zeros' in value) return Buffer.alloc(Number(value.$zeros));
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, decode(member)]));
}

function encode(value: unknown): unknown {
  if (value instanceof Uint8Array) {
    const zeros = value.length > 1000 && value.every((byte) => byte === 0);
    return zeros ? { $zeros: value.length } : { $bytes: Buffer.from(value).toString('hex') };
  }
  if (ArrayBuffer.isView(value)) return Array.from(value as Float64Array);
  if (Array.isArray(value)) return value.map(encode);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, encode(member)]));
}
