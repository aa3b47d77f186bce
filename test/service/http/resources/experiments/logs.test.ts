import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { AttemptEvent } from '../../../../../src/core/events.ts';
import { appFor, TOKEN } from '../../../../support/http-app.ts';
import { storeThrough } from '../../../../support/made-up-store.ts';
import { claimed, running, storeFor, submitInput } from '../../../../support/store.ts';

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
events.push({ type: 'gap', kind: 'logs', step: 0, count: 7, bytes: 700, rows: 0, reason: 'too fast' });
await store.events.append(
  lease,
  events.map((event, index) => ({ sequence: index + 1, at: 5000 + index, event })),
);

describe('GET /v1/experiments/:id/logs', () => {
  test('GET logs returns every line in order with its number, and a gap as a line of its own', async () => {
    const page = (await call('GET', url)).json();
    assert.equal(page.lines.length, 81);
    assert.deepEqual(page.lines[0], {
      line: 1,
      id: '1-1048576',
      at: 5000,
      attempt: 1,
      source: 'stdout',
      text: 'a0',
    });
    assert.deepEqual(page.lines[2].source, 'stderr');
    assert.equal(page.lines.at(-1).source, 'gap');
    assert.equal(page.lines.at(-1).text, '[7 lines, 700 bytes dropped: too fast]');
    assert.equal(page.more, false);
  });

  test('GET logs returns the last lines with `tail`, and the lines after a cursor with `after`', async () => {
    const tail = (await call('GET', `${url}?tail=4`)).json();
    assert.deepEqual(
      tail.lines.map(({ text }: { text: string }) => text.slice(0, 3)),
      ['b38', 'a39', 'b39', '[7 '],
    );
    const middle = (await call('GET', url)).json().lines[39].id;
    const rest = (await call('GET', `${url}?after=${middle}`)).json();
    assert.equal(rest.lines[0].text, 'a20');
    const nothing = (await call('GET', `${url}?after=${tail.after}`)).json();
    assert.deepEqual(nothing, { lines: [], after: tail.after, more: false, progress: [] });
  });

  test('GET logs with Accept: text/plain returns inert plain text', async () => {
    const response = await call('GET', `${url}?tail=2`, { headers: { accept: 'text/plain' } });
    assert.equal(response.headers['content-type'], 'text/plain; charset=utf-8');
    assert.equal(response.headers['x-content-type-options'], 'nosniff');
    assert.equal(response.body, 'b39 \u001b[31m<b>\n[7 lines, 700 bytes dropped: too fast]\n');
    assert.ok(response.headers['x-after']);
  });

  test('GET logs of an experiment without output returns no lines', async () => {
    const { id } = await store.experiments.submit(submitInput());
    const page = (await call('GET', `/v1/experiments/${id}/logs`)).json();
    assert.deepEqual(page.lines, []);
    assert.equal((await call('GET', `/v1/experiments/${id}/logs?tail=5`)).json().lines.length, 0);
  });

  test('GET logs refuses a bad `tail`, a bad cursor and an unknown parameter', async () => {
    for (const query of ['tail=0', 'tail=x', 'tail=10001', 'after=x', 'tale=1']) {
      assert.equal((await call('GET', `${url}?${query}`)).statusCode, 400, query);
    }
    const { problems } = (await call('GET', `${url}?tail=3&since=2`)).json();
    assert.deepEqual(
      problems.map(({ field }: { field: string }) => field),
      ['tail', 'since', 'after'],
    );
  });
});

describe('GET /v1/experiments/:id/logs of a long run', () => {
  test('GET logs with `since` returns the lines from any line number', async () => {
    const { id, texts } = await longRun();
    for (const line of [1, 2, 255, 256, 257, 1000, 4321, texts.length]) {
      const page = (await call('GET', `/v1/experiments/${id}/logs?since=${line}`)).json();
      assert.equal(page.lines[0].line, line);
      assert.equal(page.lines[0].text, texts[line - 1]);
    }
    const after = (await call('GET', `/v1/experiments/${id}/logs?since=${texts.length + 1}`)).json();
    assert.deepEqual(after.lines, []);
  });

  test('GET logs numbers lines the same on every page and with `tail`', async () => {
    const { id, texts } = await longRun();
    let [place, count] = ['', 0];
    for (let more = true; more; ) {
      const page = (await call('GET', `/v1/experiments/${id}/logs?${place}`)).json();
      for (const { line, text } of page.lines) {
        assert.equal(line, ++count);
        assert.equal(text, texts[line - 1]);
      }
      place = `after=${page.after}`;
      more = page.more;
    }
    assert.equal(count, texts.length);
    const tail = (await call('GET', `/v1/experiments/${id}/logs?tail=300`)).json();
    assert.deepEqual(
      tail.lines.map(({ line }: { line: number }) => line),
      Array.from({ length: 300 }, (_, index) => texts.length - 299 + index),
    );
  });

  test('GET logs/count counts the matching lines of a log that one answer does not hold', async () => {
    const { id, texts } = await longRun();
    const url = `/v1/experiments/${id}/logs/count`;
    const count = async (query: string) => (await call('GET', `${url}?${query}`)).json();
    const wanted = (text: string) => texts.filter((line) => line.includes(text)).length;
    assert.ok(wanted('line') > 2000);
    assert.equal((await count('contains=line')).matching, wanted('line'));
    assert.equal((await count('contains=attempt%202')).matching, wanted('attempt 2'));
    assert.equal((await count('contains=line&attempt=2')).matching, wanted('attempt 2'));
    const { after } = (await call('GET', `/v1/experiments/${id}/logs`)).json();
    assert.deepEqual(await count(`contains=nothing%20of%20this&after=${after}`), {
      matching: 0,
      more: false,
      after: (await call('GET', `/v1/experiments/${id}/logs?tail=1`)).json().after,
    });
  });

  test('GET logs filters by attempt, source and text', async () => {
    const { id, texts } = await longRun();
    const url = `/v1/experiments/${id}/logs`;
    const second = (await call('GET', `${url}?attempt=2`)).json();
    assert.ok(second.lines.every(({ attempt }: { attempt: number }) => attempt === 2));
    assert.equal(second.lines[0].text, 'attempt 2 line 0');
    const first = (await call('GET', `${url}?attempt=1&since=2900`)).json();
    assert.equal(first.lines.at(-1).text, 'attempt 1 line 2999');
    assert.equal(first.more, false);
    const errors = (await call('GET', `${url}?source=stderr&tail=5`)).json();
    assert.deepEqual(
      errors.lines.map(({ source }: { source: string }) => source),
      Array(5).fill('stderr'),
    );
    const found = (await call('GET', `${url}?contains=line%20777&attempt=1`)).json();
    assert.deepEqual(
      found.lines.map(({ line }: { line: number }) => texts[line - 1]),
      ['attempt 1 line 777'],
    );
    const pattern = (await call('GET', `${url}?contains=(a%2B)%2B%24`)).json();
    assert.deepEqual(pattern.lines, []);
  });

  test('a download returns the log as recorded, from any line and of any attempt', async () => {
    const { id, texts } = await longRun();
    const whole = await call('GET', `/v1/experiments/${id}/logs/download`);
    assert.equal(whole.headers['content-disposition'], `attachment; filename="${id}.log"`);
    assert.equal(whole.headers['content-type'], 'text/plain; charset=utf-8');
    assert.equal(whole.headers['x-content-type-options'], 'nosniff');
    assert.equal(whole.body, texts.map((text) => `${text}\n`).join(''));
    assert.equal(Number(whole.headers['x-log-lines']), texts.length);
    assert.equal(Number(whole.headers['x-log-bytes']), Buffer.byteLength(whole.body));
    const rest = await call('GET', `/v1/experiments/${id}/logs/download?since=4000`);
    assert.equal(
      rest.body,
      texts
        .slice(3999)
        .map((text) => `${text}\n`)
        .join(''),
    );
    const second = await call('GET', `/v1/experiments/${id}/logs/download?attempt=2`);
    assert.equal(
      second.body,
      texts
        .slice(3000)
        .map((text) => `${text}\n`)
        .join(''),
    );
  });

  test('GET logs returns control characters unchanged, and the download too', async () => {
    const odd = await running(store);
    const lines = ['\u001b[2J\u001b]0;x\u0007', '\u202eevil', 'a\u0000b', '\ufffd', '{"type":"state"}', '😀'];
    const event: AttemptEvent = { type: 'log', source: 'stdout', lines, cutBytes: 104_857_600 };
    await store.events.append(odd, [{ sequence: 1, at: 0, event }]);
    const page = (await call('GET', `/v1/experiments/${odd.experiment}/logs`)).json();
    assert.deepEqual(page.lines.map(({ text }: { text: string }) => text).slice(0, -1), lines);
    assert.match(page.lines.at(-1).text, /104857600 bytes of lines that are too long were cut/);
    const { body } = await call('GET', `/v1/experiments/${odd.experiment}/logs/download`);
    assert.ok(body.startsWith(lines.map((line) => `${line}\n`).join('')));
  });

  test('GET logs refuses two starting points at once, and bad filters', async () => {
    for (const query of [
      'tail=3&since=2',
      'since=1&after=1-0',
      'since=0',
      'contains=',
      'source=gap',
      'attempt=0',
    ]) {
      assert.equal((await call('GET', `${url}?${query}`)).statusCode, 400, query);
    }
  });
});

let long: Promise<{ id: string; texts: string[] }> | undefined;

/** 3000 and 2000 lines in two attempts, three in an event, among metrics. */
function longRun(): Promise<{ id: string; texts: string[] }> {
  long ??= makeLongRun();
  return long;
}

async function makeLongRun() {
  let lease = await running(store);
  const texts: string[] = [];
  for (const [attempt, count] of [
    [1, 3000],
    [2, 2000],
  ] as const) {
    if (attempt === 2) {
      await store.attempts.end(lease, { to: 'queued', reason: 'node lost' });
      lease = await claimed(store, lease.experiment);
      await store.attempts.confirm(lease);
    }
    const mine = Array.from({ length: count }, (_, index) => `attempt ${attempt} line ${index}`);
    texts.push(...mine);
    const events: AttemptEvent[] = [];
    for (let at = 0; at < count; at += 3) {
      const source = at % 2 ? 'stderr' : 'stdout';
      events.push({ type: 'log', source, lines: mine.slice(at, at + 3), cutBytes: 0 });
      if (at % 30 === 0) events.push({ type: 'metrics', step: at, values: { x: at } });
    }
    await store.events.append(
      lease,
      events.map((event, index) => ({ sequence: index + 1, at: 0, event })),
    );
  }
  return { id: lease.experiment, texts };
}

describe('limits on readers of logs', () => {
  test('a download beyond the open streams of a caller gets 429', async (t) => {
    const { call } = await appFor(t, { store, limits: { streams: 0 } });
    const answer = await call('GET', `${url}/download`);
    assert.deepEqual([answer.statusCode, answer.json().code], [429, 'rate-limited']);
    assert.equal(answer.headers['retry-after'], '1');
  });

  test('a third parallel search of logs gets 429, and succeeds after another search has ended', async (t) => {
    let going = () => {};
    const gate = new Promise<void>((resolve) => {
      going = resolve;
    });
    const read: typeof store.events.read = async (...args) => {
      await gate;
      return await store.events.read(...args);
    };
    const held = { ...store, events: { ...store.events, read } };
    const { call } = await appFor(t, { store: held });
    const search = () => call('GET', `${url}?contains=a1`);
    const all = [search(), search(), search()];
    const first = await Promise.race(all);
    assert.deepEqual([first.statusCode, first.json().code], [429, 'rate-limited']);
    going();
    const codes = (await Promise.all(all)).map(({ statusCode }) => statusCode);
    assert.deepEqual(codes.sort(), [200, 200, 429]);
    assert.equal((await search()).statusCode, 200);
  });
});

describe('a download of a log', () => {
  /** 60 MB in lines of 12 kB: more than the buffers of two kernels hold. */
  async function large(): Promise<{ id: string; bytes: number }> {
    const big = await running(store);
    const text = 'x'.repeat(12_000);
    for (let first = 1; first <= 5000; first += 250) {
      const events = Array.from({ length: 250 }, (_, index) => {
        const event: AttemptEvent = { type: 'log', source: 'stdout', lines: [text], cutBytes: 0 };
        return { sequence: first + index, at: 0, event };
      });
      await store.events.append(big, events);
    }
    return { id: big.experiment, bytes: 5000 * 12_001 };
  }

  test('a download waits for a slow client and does not read the store ahead', async (t) => {
    const { id, bytes } = await large();
    let reads = 0;
    const counted = storeThrough(store, (path, call) => {
      if (path === 'events.read') reads++;
      return call();
    });
    // A slow download may take longer than the handler timeout.
    const handlerTimeoutMs = 2_000;
    const { app } = await appFor(t, { store: counted, limits: { handlerTimeoutMs } });
    const origin = await app.listen({ port: 0, host: '127.0.0.1' });
    const headers = { authorization: `Bearer ${TOKEN}` };
    const response = await fetch(`${origin}/v1/experiments/${id}/logs/download`, { headers });
    const reader = response.body!.getReader();
    let received = (await reader.read()).value!.length;
    await pause(handlerTimeoutMs + 500);
    // Fails if the whole log is read ahead: that takes more than 200 calls.
    assert.ok(reads < 100, `${reads} calls of the store`);
    for (let part = await reader.read(); !part.done; part = await reader.read())
      received += part.value.length;
    assert.equal(received, bytes);
  });
});
