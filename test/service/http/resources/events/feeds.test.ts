import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { ControllerEvent } from '../../../../../src/core/events.ts';
import { allBatches } from '../../../../support/batches.ts';
import { openStream } from '../../../../support/event-stream.ts';
import { appFor } from '../../../../support/http-app.ts';
import { running, type Scope, storeFor, submitInput } from '../../../../support/store.ts';

const { store, redis } = await storeFor({ after });

async function served(scope: Scope, limits = {}) {
  const tested = await appFor(scope, { store, limits });
  const origin = await tested.app.listen({ port: 0, host: '127.0.0.1' });
  return { ...tested, origin };
}

const states = (data: string): string => {
  const { event } = JSON.parse(data);
  return event.type === 'state' ? `${event.from}>${event.to}` : event.type;
};

describe('GET /v1/projects/:name/events and /v1/events', () => {
  test('a feed sends new events, and its start event names the cursor at which it begins', async (t) => {
    const { origin } = await served(t);
    await store.experiments.submit(submitInput());
    const project = await openStream(t, `${origin}/v1/projects/default/events`);
    const all = await openStream(t, `${origin}/v1/events`);
    const start = await project.next();
    assert.equal(start?.event, 'start');
    assert.equal((await all.next())?.event, 'start');
    const lease = await running(store, { input: { name: 'told' } });
    await running(store, { input: { project: 'other' } });
    for (const expected of ['null>queued', 'queued>launching', 'launching>running']) {
      const message = await project.next();
      assert.equal(states(message!.data), expected);
      assert.equal(JSON.parse(message!.data).experiment, lease.experiment);
      assert.equal(JSON.parse(message!.data).name, 'told');
      assert.equal(message?.event, 'state');
      assert.equal(states((await all.next())!.data), expected);
    }
    assert.equal(JSON.parse((await all.next())!.data).project, 'other');
    // After the start cursor come exactly the events that were sent since.
    const again = await openStream(t, `${origin}/v1/projects/default/events`, {
      'last-event-id': start!.id!,
    });
    assert.equal((await again.next())?.id, start?.id);
    assert.equal(states((await again.next())!.data), 'null>queued');
  });

  test('a feed resumes after any cursor without missing or repeating an event', async (t) => {
    const { origin } = await served(t);
    for (let count = 0; count < 30; count++)
      await store.experiments.submit(submitInput({ project: 'default' }));
    const end = Number(await store.feed.end('default'));
    for (const place of [0, 1, Math.floor(end / 2), end - 1]) {
      const stream = await openStream(t, `${origin}/v1/projects/default/events?after=${place}`);
      assert.equal((await stream.next())?.event, 'start');
      for (let id = place + 1; id <= end; id++) assert.equal((await stream.next())?.id, String(id));
      await stream.close();
    }
  });

  test('a feed sends a failed verification and omits a passed one', async (t) => {
    const { origin } = await served(t);
    const lease = await running(store);
    const batch = (number: number) =>
      ({
        type: 'batch',
        step: number,
        batch: number,
        index: 0,
        count: 1,
        rows: 4,
        digest: 'd',
        bytes: 1,
      }) as const;
    await store.events.append(
      lease,
      [1, 2].map((number) => ({
        sequence: number,
        at: 0,
        event: batch(number),
        data: new Uint8Array([number]),
      })),
    );
    const stream = await openStream(t, `${origin}/v1/projects/default/events`);
    await stream.next();
    for (const record of await allBatches(store, lease.experiment)) {
      const wrong = record.batch === 2 ? 1 : 0;
      const event: Extract<ControllerEvent, { type: 'verification' }> = {
        type: 'verification',
        attempt: 1,
        batch: record.batch,
        step: record.step,
        rows: 4,
        exact: 4 - wrong,
        rounding: 0,
        wrong,
        unverifiable: 0,
        errors: [],
        ok: wrong === 0,
      };
      await store.batches.report(record, event, {});
    }
    const message = await stream.next();
    assert.equal(message?.event, 'verification');
    assert.equal(JSON.parse(message!.data).event.batch, 2);
  });

  test('a feed answers 410 with a usable cursor if the events after the requested cursor have expired', async (t) => {
    const { call } = await served(t);
    for (let count = 0; count < 5; count++) await store.experiments.submit(submitInput());
    const end = Number(await store.feed.end('default'));
    await redis.xtrim('{echelon}:feed:p:default', 'MAXLEN', 3);
    const gone = await call('GET', `/v1/projects/default/events?after=${end - 4}`);
    assert.equal(gone.statusCode, 410);
    assert.equal(gone.json().code, 'history-trimmed');
    assert.match(gone.json().problems[0].message, new RegExp(`continue after ${end - 3}`));
    for (const place of [String(end + 1), 'x', '-1', '1-0', '9'.repeat(30)]) {
      const headers = { 'last-event-id': place };
      const refused = await call('GET', '/v1/projects/default/events', { headers });
      assert.equal(refused.statusCode, 400, place);
      assert.equal(refused.json().code, 'invalid-cursor');
    }
  });

  test('the feed of an unknown project gets 404', async (t) => {
    const { call } = await served(t);
    assert.equal((await call('GET', '/v1/projects/absent/events')).statusCode, 404);
    assert.equal((await call('GET', '/v1/projects/No%20Name/events')).json().code, 'project-not-found');
    assert.equal((await call('GET', '/v1/events', { token: null })).statusCode, 401);
  });

  test('feeds and experiment streams share one limit of open streams', async (t) => {
    const { origin, call } = await served(t, { streams: 2 });
    const { id } = await store.experiments.submit(submitInput());
    await openStream(t, `${origin}/v1/events`);
    await openStream(t, `${origin}/v1/experiments/${id}/events`);
    assert.equal((await call('GET', '/v1/projects/default/events')).statusCode, 429);
  });
});
