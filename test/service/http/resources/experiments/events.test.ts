import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { AttemptEvent } from '../../../../../src/core/events.ts';
import type { Lease } from '../../../../../src/store/attempts/types.ts';
import { openStream } from '../../../../support/event-stream.ts';
import { appFor, REPLAY } from '../../../../support/http-app.ts';
import { running, type Scope, storeFor, submitInput } from '../../../../support/store.ts';

const { store } = await storeFor({ after });

async function served(scope: Scope, limits = {}) {
  const tested = await appFor(scope, { store, limits });
  const origin = await tested.app.listen({ port: 0, host: '127.0.0.1' });
  return { ...tested, origin };
}

const log = (text: string): AttemptEvent => ({ type: 'log', source: 'stdout', lines: [text], cutBytes: 0 });

async function append(lease: Lease, first: number, count: number): Promise<void> {
  const events = Array.from({ length: count }, (_, index) => ({
    sequence: first + index,
    at: 1000 + first + index,
    event: log(`line ${first + index}`),
  }));
  await store.events.append(lease, events);
}

async function ended(): Promise<Lease> {
  const lease = await running(store);
  await append(lease, 1, 20);
  await store.attempts.end(lease, { to: 'succeeded', reason: 'done' });
  return lease;
}

describe('GET /v1/experiments/:id/events', () => {
  test('the stream of an ended experiment sends its events from first to last, then an end event', async (t) => {
    const { origin } = await served(t);
    const { experiment } = await ended();
    const stream = await openStream(t, `${origin}/v1/experiments/${experiment}/events`);
    const events = await stream.rest();
    assert.equal(stream.response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
    assert.equal(stream.response.headers.get('x-content-type-options'), 'nosniff');
    const recorded = await store.events.read(experiment, undefined, 1000);
    assert.deepEqual(
      events.slice(0, -1).map((event) => JSON.parse(event.data)),
      recorded,
    );
    assert.equal(events.at(-1)?.event, 'end');
  });

  test('an event stream resumes after any Last-Event-ID without missing or repeating an event', async (t) => {
    const { origin } = await served(t);
    const { experiment } = await ended();
    const url = `${origin}/v1/experiments/${experiment}/events`;
    const ids = (await store.events.read(experiment, undefined, 1000)).map(({ id }) => id);
    for (const [index, id] of ids.slice(0, -1).entries()) {
      const events = await (await openStream(t, url, { 'last-event-id': id })).rest();
      assert.deepEqual(
        events.slice(0, -1).map((event) => event.id),
        ids.slice(index + 1),
      );
    }
    const both = await openStream(t, `${url}?after=${ids[0]}`, { 'last-event-id': ids[5]! });
    assert.equal((await both.next())?.id, ids[6]);
    const query = await openStream(t, `${url}?after=${ids[3]}`);
    assert.equal((await query.next())?.id, ids[4]);
  });

  test('a stream that resumes after the last event of an ended experiment gets 204', async (t) => {
    const { origin } = await served(t);
    const { experiment } = await ended();
    const last = (await store.events.tail(experiment, 1))[0]!.id;
    const url = `${origin}/v1/experiments/${experiment}/events`;
    const { response } = await openStream(t, url, { 'last-event-id': last });
    assert.equal(response.status, 204);
  });

  // Fails if the end of the experiment counts as the last event: the event of a rule that fires later is lost.
  test('a stream of an ended experiment stays open until its rules have read all signals', async (t) => {
    const { origin } = await served(t);
    const lease = await running(store, { input: { resolved: { engine: 'replay', rules: [{ name: 'r' }] } } });
    const metrics = { type: 'metrics', step: 1, values: { loss: 1 } } as const;
    await store.events.append(lease, [{ sequence: 1, at: 1, event: metrics }]);
    await store.attempts.end(lease, { to: 'succeeded', reason: 'done' });
    const last = (await store.events.tail(lease.experiment, 1))[0]!.id;
    const url = `${origin}/v1/experiments/${lease.experiment}/events`;
    const stream = await openStream(t, url, { 'last-event-id': last });
    assert.equal(stream.response.status, 200);
    await store.rules.dropSignals(lease.experiment);
    const again = await openStream(t, url, { 'last-event-id': last });
    assert.equal(again.response.status, 204);
  });

  test('a stream sends new events when they are recorded', async (t) => {
    const { origin } = await served(t);
    const lease = await running(store);
    const last = (await store.events.tail(lease.experiment, 1))[0]!.id;
    const stream = await openStream(t, `${origin}/v1/experiments/${lease.experiment}/events?after=${last}`);
    for (let sequence = 1; sequence <= 3; sequence++) {
      await append(lease, sequence, 1);
      assert.deepEqual(JSON.parse((await stream.next())!.data).event, log(`line ${sequence}`));
    }
    await store.attempts.end(lease, { to: 'failed', reason: 'over' });
    assert.deepEqual(
      (await stream.rest()).map((event) => event.event),
      ['state', 'end'],
    );
  });

  test('a stream refuses a cursor that does not belong to its experiment', async (t) => {
    const { call } = await served(t);
    const { experiment } = await ended();
    for (const id of [
      'x',
      '-1',
      '1',
      '1-',
      '99999999999-1',
      '2-1',
      '1-99999999999999999999',
      '9'.repeat(5000),
    ]) {
      const headers = { 'last-event-id': id };
      const response = await call('GET', `/v1/experiments/${experiment}/events`, { headers });
      assert.equal(response.statusCode, 400, id);
      assert.equal(response.json().code, 'invalid-cursor');
      assert.equal(response.json().problems[0].field, 'Last-Event-ID');
    }
    const response = await call('GET', `/v1/experiments/${experiment}/events?after=x`);
    assert.equal(response.json().problems[0].field, 'after');
    const unknown = await call('GET', '/v1/experiments/exp-00000000000000000000/events');
    assert.equal(unknown.statusCode, 404);
  });

  test('a stream beyond the limit gets 429, until another stream closes', async (t) => {
    const { origin, call } = await served(t, { streams: 2 });
    const { id } = await store.experiments.submit(submitInput({ name: REPLAY.name }));
    const url = `/v1/experiments/${id}/events`;
    const first = await openStream(t, origin + url);
    await openStream(t, origin + url);
    assert.equal((await call('GET', url)).statusCode, 429);
    await first.close();
    for (let tries = 0; ; tries++) {
      const third = await openStream(t, origin + url);
      if (third.response.status === 200) break;
      assert.equal(third.response.status, 429);
      assert.ok(tries < 1000);
    }
  });

  test('open streams end without an end event when the server closes', async (t) => {
    const { app, origin } = await served(t);
    const { id } = await store.experiments.submit(submitInput());
    const stream = await openStream(t, `${origin}/v1/experiments/${id}/events`);
    assert.equal((await stream.next())?.event, 'state');
    await app.close();
    assert.deepEqual(await stream.rest(), []);
  });
});
