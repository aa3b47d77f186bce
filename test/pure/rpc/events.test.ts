import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import protobuf from 'protobufjs';
import { RAY_WORKER_CAUSES } from '../../../src/core/events.ts';
import { toEnded, toNumber, toNumberedEvent } from '../../../src/rpc/events.ts';
import { METHODS } from '../../../src/rpc/methods.ts';

const PROTO = join(import.meta.dirname, '../../../proto/echelon/rayworker/v1/rayworker.proto');
const root = protobuf.loadSync(PROTO);
const AttemptEvent = root.lookupType('echelon.rayworker.v1.AttemptEvent');

/** An event as a ray-worker would send it, through the wire and the mapping. */
function received(body: object) {
  const message = AttemptEvent.fromObject({ sequence: 7, timeUnixMs: 1_700_000_000_123, ...body });
  return toNumberedEvent(METHODS.Attach.decode(Buffer.from(AttemptEvent.encode(message).finish())));
}

describe('events of the wire', () => {
  test('events of the wire keep their number and time', () => {
    const { sequence, at } = received({ stage: {} });
    assert.deepEqual([sequence, at], [7, 1_700_000_000_123]);
  });

  // Order comes from the number alone, since the clocks of clusters differ. Fails without timeOf.
  test('events of the wire keep no time of the future, nor one that is none', () => {
    const now = 1_800_000_000_000;
    const at = (timeUnixMs: number) =>
      toNumberedEvent(
        METHODS.Attach.decode(
          Buffer.from(
            AttemptEvent.encode(AttemptEvent.fromObject({ sequence: 1, timeUnixMs, stage: {} })).finish(),
          ),
        ),
        now,
      ).at;
    assert.deepEqual([now - 1, now + 300_000, 0].map(at), [now - 1, now + 300_000, 0]);
    for (const time of [Date.UTC(2099, 0, 1), now + 300_001, -1, 2 ** 62]) assert.equal(at(time), now);
  });

  test('events of the wire become events of the core, each kind', () => {
    const cases: [object, object][] = [
      [
        { started: { pid: 5, nodeId: 'n', command: ['a'] } },
        { type: 'started', pid: 5, nodeId: 'n', command: ['a'] },
      ],
      [{ stage: { name: 's', step: 1, steps: 2 } }, { type: 'stage', name: 's', step: 1, steps: 2 }],
      [
        { log: { source: 2, lines: ['l'], cutBytes: 3 } },
        { type: 'log', source: 'stderr', lines: ['l'], cutBytes: 3 },
      ],
      [
        { log: { source: 1, progress: '50%' } },
        { type: 'log', source: 'stdout', lines: [], cutBytes: 0, progress: '50%' },
      ],
      [{ checkpoint: { step: 4, path: 'p' } }, { type: 'checkpoint', step: 4, path: 'p' }],
      [
        {
          evaluation: {
            step: 4,
            panel: 'p',
            digest: 'd',
            decoding: { t: '1' },
            games: [{ game: 'g', replicate: 1, success: 1, score: 2, steps: 3, invalidSteps: 4 }],
          },
        },
        {
          type: 'evaluation',
          step: 4,
          panel: 'p',
          digest: 'd',
          decoding: { t: '1' },
          games: [{ game: 'g', replicate: 1, success: 1, score: 2, steps: 3, invalidSteps: 4 }],
        },
      ],
      [
        { gap: { kind: 2, step: 1, count: 2, bytes: 3, rows: 4, reason: 'r' } },
        { type: 'gap', kind: 'batch', step: 1, count: 2, bytes: 3, rows: 4, reason: 'r' },
      ],
      [
        { ended: { cause: 2, exitCode: 3, lastLines: ['x'] } },
        { type: 'ended', cause: 'failed', exitCode: 3, signal: 0, message: '', lastLines: ['x'] },
      ],
    ];
    for (const [body, event] of cases) assert.deepEqual(received(body).event, event);
  });

  test('events of the wire keep NaN and the infinities of metrics in a form that JSON has', () => {
    const { event } = received({
      metrics: { step: 2, values: { a: 0.1, b: Number.NaN, c: Infinity, d: -Infinity } },
    });
    assert.deepEqual(event, {
      type: 'metrics',
      step: 2,
      values: { a: 0.1, b: 'NaN', c: 'Infinity', d: '-Infinity' },
    });
  });

  test('carry the bytes of a batch beside the event', () => {
    const data = Buffer.from([1, 2, 3]);
    const batch = { step: 1, batch: 2, index: 0, count: 1, data, digest: Buffer.from([0xab]), rows: 9 };
    const { event, data: bytes } = received({ batch });
    assert.deepEqual(Buffer.from(bytes ?? []), data);
    assert.deepEqual(event, {
      type: 'batch',
      step: 1,
      batch: 2,
      index: 0,
      count: 1,
      rows: 9,
      digest: 'ab',
      bytes: 3,
    });
  });

  test('events of the wire of an unknown kind keep their number and are seen as missing', () => {
    const { sequence, event } = received({});
    assert.equal(sequence, 7);
    assert.equal(event.type, 'gap');
  });

  test('know every cause of an end in proto/', () => {
    const { Cause } = root.lookupType('echelon.rayworker.v1.Ended').nested as { Cause: protobuf.Enum };
    const names = Object.entries(Cause.values).filter(([, value]) => value > 0);
    assert.deepEqual(
      names.map(([, value]) => toEnded({ cause: value }).cause),
      names.map(([name]) => name.toLowerCase().replaceAll('_', '-')),
    );
    assert.equal(names.length, RAY_WORKER_CAUSES.length);
    assert.equal(toEnded({ cause: 99 as 1 }).cause, 'failed');
  });

  test('read 64-bit fields as numbers', () => {
    assert.equal(toNumber({ toNumber: () => 5 }), 5);
    assert.equal(toNumber(5), 5);
    assert.equal(toNumber(undefined), 0);
  });
});
