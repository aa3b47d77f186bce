import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { cordonFaulty, faultsOf, HEAD_FAULT } from '../../../../src/dispatch/clusters/faulty-nodes.ts';
import { node } from '../../../support/queue.ts';

const MINUTE = 60_000;
const fault = (name: string, minute: number, share = 1) => ({ node: name, at: minute * MINUTE, share });

test('attempts that one fault ended count once, and an attempt on several nodes counts by its share on each', () => {
  assert.equal(faultsOf('a', [fault('a', 1), fault('a', 1.5), fault('a', 3), fault('b', 5)]), 2);
  assert.equal(faultsOf('a', [fault('a', 1, 0.25), fault('a', 3, 0.25)]), 0.5);
});

test('a node with enough faults is cordoned until the time is over, with the reason; others are not', () => {
  const rule = { after: 3, forMs: 60 * MINUTE };
  const nodes = ['a', 'b', 'c'].map((id) => node(id, 4, 16));
  const faults = [1, 3, 5].flatMap((minute) => [fault('a', minute), fault('b', minute, 0.5)]);
  const known = { rule, now: 6 * MINUTE, faults, message: 'a GPU failed (exit code 1)' };
  assert.deepEqual(cordonFaulty({}, nodes, known), {
    a: {
      by: 'echelon',
      at: 6 * MINUTE,
      until: 66 * MINUTE,
      reason: '3 faults within 60 min, the last: a GPU failed (exit code 1)',
    },
  });
  const none = {};
  assert.equal(cordonFaulty(none, nodes, { ...known, faults: faults.slice(0, 4) }), none);
});

test('at least half of the nodes of a cluster continue to accept experiments; the other cordons are pending', () => {
  const rule = { after: 1, forMs: 60 * MINUTE };
  const ids = ['a', 'b', 'c', 'd'];
  const known = { rule, now: 0, faults: ids.map((id) => fault(id, 1)), message: 'm' };
  const cordoned = (nodes: string[]) =>
    Object.entries(
      cordonFaulty(
        {},
        nodes.map((id) => node(id, 1, 1)),
        known,
      ),
    ).map(([id, { pending }]) => (pending ? `(${id})` : id));
  assert.deepEqual(
    [cordoned(ids), cordoned(['a', 'b']), cordoned(['a'])],
    [['a', 'b', '(c)', '(d)'], ['a', '(b)'], ['(a)']],
  );
});

test('the ray-worker names a loss of the head in the words by which it counts as no fault of a node', () => {
  const source = readFileSync('deploy/ray-worker/echelon_rayworker/failures.py', 'utf8');
  assert.ok(source.includes(`_HEAD = "${HEAD_FAULT}"`));
});
