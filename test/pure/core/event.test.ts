import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import {
  boundEnded,
  boundEvent,
  boundNumbered,
  MAX_METRICS_PER_EVENT,
} from '../../../src/core/event-bounds.ts';
import {
  type AttemptEvent,
  EVENT_TYPES,
  type NumberedEvent,
  RAY_WORKER_CAUSES,
} from '../../../src/core/events.ts';
import { logTexts } from '../../../src/core/log-lines.ts';

const ordinary: AttemptEvent[] = [
  { type: 'started', pid: 5, nodeId: 'n', command: ['python', '-m', 'x'] },
  { type: 'stage', name: 'step 3 of 40', step: 3, steps: 40 },
  { type: 'log', source: 'stderr', lines: ['a', ''], cutBytes: 9 },
  { type: 'metrics', step: 2, values: { a: 0.1, b: 'NaN' } },
  { type: 'log', source: 'stderr', lines: [], cutBytes: 0, progress: '50%' },
  { type: 'batch', step: 1, batch: 1, index: 0, count: 1, rows: 2, digest: 'ab'.repeat(32), bytes: 3 },
  { type: 'checkpoint', step: 4, path: 'checkpoints/step-4' },
  { type: 'gap', kind: 'batch', step: 1, count: 1, bytes: 2 ** 40, rows: 3, reason: 'full' },
  { type: 'ended', cause: 'succeeded', exitCode: 0, signal: 0, message: 'exit code 0', lastLines: ['bye'] },
];

describe('bounds of events', () => {
  test('an ordinary event of each kind stays as it is', () => {
    for (const event of ordinary) assert.deepEqual(boundEvent(event), event);
  });

  test('texts of 4 MB are cut with a mark', () => {
    const long = 'x'.repeat(4_000_000);
    const cut: AttemptEvent[] = [
      { type: 'started', pid: 5, nodeId: long, command: Array(10_000).fill(long.slice(0, 100_000)) },
      { type: 'stage', name: long, step: 3, steps: 40 },
      { type: 'gap', kind: 'reports', step: 0, count: 1, bytes: 0, rows: 0, reason: long },
    ];
    const texts = cut.map(boundEvent).flatMap((event) => {
      if (event.type === 'started') return [event.nodeId, event.command[0]!, event.command.at(-1)!];
      if (event.type === 'stage') return [event.name];
      return event.type === 'gap' ? [event.reason] : [];
    });
    assert.equal(texts.length, 5);
    for (const text of texts) {
      assert.ok(text.length <= 32 * 1024, `${text.length}`);
      assert.ok(text.endsWith('… [cut]'));
    }
    const ended = boundEnded({
      type: 'ended',
      cause: 'failed',
      exitCode: 1,
      signal: 0,
      message: long,
      lastLines: Array(1000).fill(long.slice(0, 9000)),
    });
    assert.ok(JSON.stringify(ended).length < 300_000 && ended.lastLines.length === 50);
  });

  test('an evaluation is recorded whole or as a gap: without some of its games it would be another one', () => {
    const played = { game: 'g', replicate: 1, success: 1, score: 1, steps: 3, invalidSteps: 0 };
    const of = (games: (typeof played)[], changes = {}) =>
      boundEvent({ type: 'evaluation', step: 1, panel: 'p', digest: '', decoding: {}, games, ...changes })
        .type;
    assert.equal(of(Array(2000).fill(played)), 'evaluation');
    assert.equal(of(Array(2001).fill(played)), 'gap');
    assert.equal(of([{ ...played, game: 'g'.repeat(300) }]), 'gap');
    assert.equal(of([{ ...played, success: Number.NaN }]), 'gap');
    assert.equal(of([played], { digest: 'a'.repeat(64) }), 'evaluation');
    for (const digest of ['a', 'a secret', 'a'.repeat(65)]) assert.equal(of([played], { digest }), 'gap');
    assert.equal(of([played], { panel: 'p'.repeat(300) }), 'gap');
    assert.equal(of([played], { decoding: { ['n'.repeat(300)]: '1' } }), 'gap');
  });

  test('a checkpoint whose path is too long is a gap, not another path', () => {
    const event = boundEvent({ type: 'checkpoint', step: 1, path: 'p'.repeat(2000) });
    assert.deepEqual(event.type === 'gap' && { kind: event.kind, count: event.count, bytes: event.bytes }, {
      kind: 'reports',
      count: 1,
      bytes: 2000,
    });
  });

  test('metrics beyond the bound are omitted and counted', () => {
    const values = Object.fromEntries(Array.from({ length: 150_000 }, (_v, at) => [`m${at}`, at]));
    const event = boundEvent({ type: 'metrics', step: 1, values: { ['n'.repeat(2000)]: 1, ...values } });
    assert.ok(event.type === 'metrics');
    assert.equal(Object.keys(event.values).length, MAX_METRICS_PER_EVENT);
    assert.equal(event.omitted, 150_001 - MAX_METRICS_PER_EVENT);
  });

  test('metrics whose names no request can ask for are omitted and counted', () => {
    const values = { '': 1, 'a\nb': 1, 'a, b': 1, ['😀'.repeat(200)]: 1, ['n'.repeat(201)]: 1 };
    const event = boundEvent({ type: 'metrics', step: 1, values });
    assert.ok(event.type === 'metrics');
    assert.deepEqual([Object.keys(event.values).length, event.omitted], [2, 3]);
  });

  test('lines beyond the bound are counted as cut bytes', () => {
    const many = boundEvent({ type: 'log', source: 'stdout', lines: Array(2_000_000).fill(''), cutBytes: 1 });
    assert.ok(many.type === 'log' && many.lines.length === 65_536);
    assert.equal(many.cutBytes, 1 + 2_000_000 - 65_536);
    const long = boundEvent({ type: 'log', source: 'stdout', lines: ['y'.repeat(4_000_000)], cutBytes: 0 });
    assert.ok(long.type === 'log' && long.lines[0]!.length + long.cutBytes === 4_000_000);
    assert.ok(long.lines[0]!.length <= 32 * 1024);
  });

  test('numbers out of range become whole and finite', () => {
    const event = boundEvent({ type: 'stage', name: '', step: 1e300, steps: -3 });
    assert.deepEqual(event, { type: 'stage', name: '', step: 0, steps: 0 });
  });

  test('a training step out of range is refused, since another would be wrong', () => {
    for (const event of [
      { type: 'metrics', step: 1e18, values: { a: 1 } },
      { type: 'checkpoint', step: 2 ** 32, path: 'p' },
    ] as const)
      assert.partialDeepStrictEqual(boundEvent(event), { type: 'gap', kind: 'reports', count: 1 });
    assert.equal(boundEvent({ type: 'metrics', step: 2 ** 32 - 1, values: {} }).type, 'metrics');
  });

  test('number, time and bytes of a numbered event stay', () => {
    const numbered: NumberedEvent = {
      sequence: 7,
      at: 8,
      event: ordinary[5]!,
      data: Uint8Array.of(1, 2, 3),
    };
    assert.deepEqual(boundNumbered(numbered), numbered);
  });
});

const proto = readFileSync('proto/echelon/rayworker/v1/rayworker.proto', 'utf8');

test('the causes of an end are those of the wire', () => {
  const [, block] = /enum Cause \{([^}]*)\}/.exec(proto)!;
  const wire = [...block!.matchAll(/^\s*([A-Z_]+) = (\d+);/gm)]
    .filter(([, , number]) => number !== '0')
    .map(([, name]) => name!.toLowerCase().replaceAll('_', '-'));
  assert.deepEqual([...RAY_WORKER_CAUSES], wire);
});

test('every event of the wire has its type', () => {
  const [, block] = /message AttemptEvent \{[\s\S]*?oneof body \{([^}]*)\}/.exec(proto)!;
  const wire = [...block!.matchAll(/^\s*\w+ (\w+) = \d+;/gm)].map(([, name]) => name);
  assert.deepEqual(
    EVENT_TYPES.filter((type) => !['state', 'verification', 'rule', 'preemption'].includes(type)),
    wire,
  );
});

test('an event adds its lines, and one where something is missing', () => {
  const log = { type: 'log', source: 'stderr', lines: ['a', ''], cutBytes: 0 } as const;
  assert.deepEqual(logTexts({ ...log, lines: [...log.lines] }), [
    { source: 'stderr', text: 'a' },
    { source: 'stderr', text: '' },
  ]);
  assert.deepEqual(logTexts({ ...log, lines: ['x'], cutBytes: 9 }).at(-1), {
    source: 'gap',
    text: '[9 bytes of lines that are too long were cut here]',
  });
  const gap = { type: 'gap', step: 0, count: 2, bytes: 30, rows: 4, reason: 'full' } as const;
  assert.deepEqual(logTexts({ ...gap, kind: 'logs' }), [
    { source: 'gap', text: '[2 lines, 30 bytes dropped: full]' },
  ]);
  assert.deepEqual(logTexts({ ...gap, kind: 'logs', count: 0 }), [
    { source: 'gap', text: '[30 bytes dropped: full]' },
  ]);
  assert.deepEqual(logTexts({ ...log, lines: [], progress: '10%' }), []);
  assert.deepEqual(logTexts({ ...gap, kind: 'reports' }), [{ source: 'gap', text: '[2 dropped: full]' }]);
  assert.deepEqual(logTexts({ ...gap, kind: 'reports', count: 0 }), [
    { source: 'gap', text: '[dropped: full]' },
  ]);
  assert.deepEqual(logTexts({ ...gap, kind: 'batch' }), []);
  assert.deepEqual(logTexts({ type: 'metrics', step: 1, values: {} }), []);
});
