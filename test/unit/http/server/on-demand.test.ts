import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import type { FastifyReply } from 'fastify';
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

const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

/* Fails without the bound: every pending request keeps its bytes in memory. */
test('work beyond the limit is refused before it starts, and accepted after other work has ended', async (t) => {
  const { reply } = await requestFor(t);
  const onDemand = createOnDemand(2, 60_000);
  const end = Promise.withResolvers<string>();
  const first = [
    onDemand(reply, () => end.promise),
    onDemand(reply, () => Promise.reject(new Error('broken'))),
  ];
  await assert.rejects(first[1]!, /broken/);
  const third = onDemand(reply, () => end.promise);
  let worked = false;
  const work = async () => {
    worked = true;
  };
  await assert.rejects(onDemand(reply, work), coded('verifier-busy'));
  assert.equal(worked, false);
  end.resolve('done');
  assert.deepEqual(await Promise.all([first[0], third]), ['done', 'done']);
  await onDemand(reply, work);
  assert.equal(worked, true);
});

/* Fails without the signal: the work continues although no client waits for it. */
test('work is aborted when its client disconnects or its deadline passes', async (t) => {
  for (const leaves of [true, false]) {
    const onDemand = createOnDemand(1, leaves ? 60_000 : 1);
    const { reply, leave } = await requestFor(t);
    const work = onDemand(reply, untilAborted);
    if (leaves) leave();
    await assert.rejects(work, coded('deadline-exceeded'));
  }
});
