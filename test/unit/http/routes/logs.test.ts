import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import type { AttemptEvent } from '../../../../src/core/events.ts';
import { linesOf } from '../../../../src/http/routes/logs.ts';
import { appFor } from '../../../support/http-app.ts';
import { running, storeFor, submitInput } from '../../../support/store.ts';

const scope = { after };
const { store } = await storeFor(scope);
const { call } = await appFor(scope, { store });

const lease = await running(store);
const url = `/v1/experiments/${lease.experiment}/logs`;
/** 40 log events of two lines among metrics, and a gap. */
const events: AttemptEvent[] = Array.from({ length: 40 }, (_, index): AttemptEvent[] => [
  {
    type: 'log',
    source: index % 2 ? 'stderr' : 'stdout',
    lines: [`a${index}`, `b${index} \u001b[31m<b>`],
    cutBytes: 0,
  },
  { type: 'metrics', step: index, values: { loss: index } },
]).flat();
events.push({ type: 'gap', what: 'logs', step: 0, count: 7, bytes: 700, rows: 0, reason: 'too fast' });
await store.append(
  lease,
  events.map((event, index) => ({ sequence: index + 1, at: 5000 + index, event })),
);

describe('GET /v1/experiments/:id/logs', () => {
  test('gives every line in order, with its place, and a gap as what it is', async () => {
    const page = (await call('GET', url)).json();
    assert.equal(page.lines.length, 81);
    assert.deepEqual(page.lines[0], { id: '1-1048576', at: 5000, attempt: 1, source: 'stdout', text: 'a0' });
    assert.deepEqual(page.lines[2].source, 'stderr');
    assert.equal(page.lines.at(-1).source, 'gap');
    assert.equal(page.lines.at(-1).text, '[7 lines, 700 bytes dropped: too fast]');
    assert.equal(page.more, false);
  });

  test('gives the last lines, and those behind a place', async () => {
    const tail = (await call('GET', `${url}?tail=4`)).json();
    assert.deepEqual(
      tail.lines.map(({ text }: { text: string }) => text.slice(0, 3)),
      ['b38', 'a39', 'b39', '[7 '],
    );
    const middle = (await call('GET', url)).json().lines[39].id;
    const rest = (await call('GET', `${url}?after=${middle}`)).json();
    assert.equal(rest.lines[0].text, 'a20');
    const nothing = (await call('GET', `${url}?after=${tail.after}`)).json();
    assert.deepEqual(nothing, { lines: [], after: tail.after, more: false });
  });

  test('gives plain text, inert, where it is asked for', async () => {
    const response = await call('GET', `${url}?tail=2`, { headers: { accept: 'text/plain' } });
    assert.equal(response.headers['content-type'], 'text/plain; charset=utf-8');
    assert.equal(response.headers['x-content-type-options'], 'nosniff');
    assert.equal(response.body, 'b39 \u001b[31m<b>\n[7 lines, 700 bytes dropped: too fast]\n');
    assert.ok(response.headers['x-after']);
  });

  test('of an experiment that has said nothing are empty', async () => {
    const { id } = await store.submit(submitInput());
    const page = (await call('GET', `/v1/experiments/${id}/logs`)).json();
    assert.deepEqual(page.lines, []);
    assert.equal((await call('GET', `/v1/experiments/${id}/logs?tail=5`)).json().lines.length, 0);
  });

  test('refuses a tail that is none and a place that is none', async () => {
    for (const query of ['tail=0', 'tail=x', 'tail=10001', 'after=x', 'tale=1']) {
      assert.equal((await call('GET', `${url}?${query}`)).statusCode, 400, query);
    }
  });
});

test('linesOf passes over what is no log', () => {
  const metrics = { id: '1-1048576', at: 0, event: { type: 'metrics', step: 0, values: {} } } as const;
  assert.deepEqual(linesOf([metrics]), []);
});
