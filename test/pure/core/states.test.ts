import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isFinal, isHeld, STATES, type State, TRANSITIONS } from '../../../src/core/states.ts';

test('every state has its row, and leads only to states', () => {
  assert.deepEqual(Object.keys(TRANSITIONS).sort(), [...STATES].sort());
  for (const next of Object.values(TRANSITIONS).flat()) assert.ok(STATES.includes(next));
});

test('exactly the three ends are final', () => {
  assert.deepEqual(STATES.filter(isFinal), ['succeeded', 'failed', 'cancelled']);
});

test('from every state an end can be reached, and every state can be reached from the line', () => {
  const reach = (from: State, seen = new Set<State>()): Set<State> => {
    if (seen.has(from)) return seen;
    seen.add(from);
    for (const next of TRANSITIONS[from]) reach(next, seen);
    return seen;
  };
  assert.equal(reach('queued').size, STATES.length);
  for (const state of STATES) assert.ok([...reach(state)].some(isFinal), state);
});

test('once a cancel is accepted, no other end and no new attempt can follow', () => {
  assert.deepEqual(TRANSITIONS.cancelling, ['cancelled']);
});

test('a lease is held between the claim and the end', () => {
  assert.deepEqual(STATES.filter(isHeld), ['launching', 'running', 'cancelling']);
});
