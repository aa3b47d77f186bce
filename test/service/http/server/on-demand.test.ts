import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { createOnDemand } from '../../../../src/http/server/on-demand.ts';
import { coded, type Scope } from '../../../support/store.ts';

/** An open request as its route gets it, and a function that disconnects its client. */
async function requestFor(scope: Scope) {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = new AbortController();
  const asked = once(server, 'request');
  const answered = fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {
    signal: client.signal,
  }).catch(() => {});
  const [, raw] = await asked;
  scope.after(async () => {
    client.abort();
    await answered;
    server.closeAllConnections();
    server.close();
  });
  const reply = { raw } as unknown as FastifyReply;
  return { reply, leave: () => client.abort() };
}

const untilAborted = ({ signal }: { signal: AbortSignal }) =>
  new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

const by = (id: string, project: string | null = null) => ({ caller: { id, project } }) as FastifyRequest;

/* Fails without the bound: every pending request keeps its bytes in memory. */
test('work beyond the limit is refused before it starts, and accepted after other work has ended', async (t) => {
  const { reply } = await requestFor(t);
  const onDemand = createOnDemand(2, 60_000);
  const end = Promise.withResolvers<string>();
  const first = [
    onDemand(by('a'), reply, () => end.promise),
    onDemand(by('b'), reply, () => Promise.reject(new Error('broken'))),
  ];
  await assert.rejects(first[1]!, /broken/);
  const third = onDemand(by('b'), reply, () => end.promise);
  let worked = false;
  const work = async () => {
    worked = true;
  };
  // Callers that have nothing in hand are let in beyond the limit, up to twice of it.
  const others = [onDemand(by('c'), reply, () => end.promise), onDemand(by('d'), reply, () => end.promise)];
  for (const caller of ['a', 'e'])
    await assert.rejects(onDemand(by(caller), reply, work), coded('verifier-busy'));
  assert.equal(worked, false);
  end.resolve('done');
  assert.deepEqual(await Promise.all([first[0], third, ...others]), Array(4).fill('done'));
  await onDemand(by('c'), reply, work);
  assert.equal(worked, true);
});

/* Fails without the shares: one caller takes all places, and others are refused. */
test('a caller and a project have a share of the work, and other projects have the rest', async (t) => {
  const { reply } = await requestFor(t);
  const onDemand = createOnDemand(8, 60_000);
  const end = Promise.withResolvers<string>();
  const ask = (id: string, project: string | null) => onDemand(by(id, project), reply, () => end.promise);
  const running = [ask('a', 'x'), ask('a', 'x')];
  await assert.rejects(ask('a', 'x'), coded('rate-limited'));
  running.push(ask('b', 'x'), ask('b', 'x'));
  await assert.rejects(ask('c', 'x'), coded('rate-limited'));
  running.push(ask('d', 'y'), ask('d', 'y'), ask('e', null), ask('e', null));
  await assert.rejects(ask('d', 'y'), coded('verifier-busy'));
  running.push(ask('f', 'z'));
  end.resolve('done');
  assert.equal((await Promise.all(running)).length, 9);
  assert.equal(await ask('a', 'x'), 'done');
});

/* Fails without the signal: the work continues although no client waits for it. */
test('work is aborted when its client disconnects or its deadline passes', async (t) => {
  for (const leaves of [true, false]) {
    const onDemand = createOnDemand(1, leaves ? 60_000 : 1);
    const { reply, leave } = await requestFor(t);
    const work = onDemand(by('a'), reply, untilAborted);
    if (leaves) leave();
    await assert.rejects(work, coded('deadline-exceeded'));
  }
});
