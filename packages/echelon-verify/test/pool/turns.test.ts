import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createTurns, type Party, type Turns } from '../../src/pool/turns.ts';

const party = (project: string, caller: string): Party => ({ project, caller });

/** Asks for a place; `order` gets the name once it is there. */
function asker(turns: Turns, order: string[]) {
  const leaves = new Map<string, () => void>();
  return {
    leaves,
    async ask(name: string, project: string, caller: string, signal?: AbortSignal): Promise<void> {
      leaves.set(name, await turns.enter(party(project, caller), signal));
      order.push(name);
    },
  };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('turns', () => {
  test('projects take turns, and in a project its callers, in whatever order they asked', async () => {
    const order: string[] = [];
    const { ask, leaves } = asker(createTurns(1), order);
    const asked = [
      ...[ask('a1', 'x', 'a'), ask('a2', 'x', 'a'), ask('a3', 'x', 'a'), ask('a4', 'x', 'a')],
      ...[ask('b1', 'x', 'b'), ask('c1', 'y', 'c'), ask('c2', 'y', 'c')],
    ];
    for (let at = 0; at < asked.length; at++) {
      await settled();
      leaves.get(order[at]!)!();
    }
    await Promise.all(asked);
    assert.deepEqual(order, ['a1', 'c1', 'b1', 'c2', 'a2', 'a3', 'a4']);
  });

  test('a caller that would fill all places leaves the last one to others', async () => {
    const order: string[] = [];
    const { ask, leaves } = asker(createTurns(2), order);
    const asked = [ask('a1', 'x', 'a'), ask('a2', 'x', 'a')];
    await settled();
    assert.deepEqual(order, ['a1']);
    asked.push(ask('b1', 'x', 'b'));
    await settled();
    assert.deepEqual(order, ['a1', 'b1']);
    leaves.get('a1')!();
    await Promise.all(asked);
    assert.deepEqual(order, ['a1', 'b1', 'a2']);
  });

  test('a caller that gives up while it waits takes no place', async () => {
    const order: string[] = [];
    const { ask, leaves } = asker(createTurns(1), order);
    const leaving = new AbortController();
    await ask('a1', 'x', 'a');
    const waiting = ask('b1', 'x', 'b', leaving.signal);
    leaving.abort(new Error('left'));
    await assert.rejects(waiting, /left/);
    leaves.get('a1')!();
    await ask('c1', 'x', 'c');
    assert.deepEqual(order, ['a1', 'c1']);
    await assert.rejects(ask('d1', 'x', 'd', AbortSignal.abort(new Error('late'))), /late/);
  });

  test('callers whose work took long share all places but one, until their use is forgiven', async () => {
    let clock = 0;
    const order: string[] = [];
    const { ask, leaves } = asker(
      createTurns(2, () => clock),
      order,
    );
    await Promise.all([ask('a1', 'x', 'a'), ask('b1', 'x', 'b')]);
    clock = 30_000;
    for (const name of order.splice(0)) leaves.get(name)!();
    // Both used a whole budget: together they get one place, and anyone else gets the other at once.
    const asked = [ask('a2', 'x', 'a'), ask('b2', 'x', 'b'), ask('c1', 'y', 'c')];
    await settled();
    assert.deepEqual(order, ['a2', 'c1']);
    asked.push(ask('d1', 'x', 'd'));
    await settled();
    leaves.get('a2')!();
    await settled();
    // Before the one that used much, although that one asked first.
    assert.deepEqual(order, ['a2', 'c1', 'd1']);
    leaves.get('c1')!();
    await settled();
    assert.equal(order.length, 3);
    clock = 30_000 * 21;
    leaves.get('d1')!();
    await Promise.all(asked);
    leaves.get('b2')!();
    await Promise.all([ask('a3', 'x', 'a'), ask('b3', 'x', 'b')]);
    assert.deepEqual(order.slice(3), ['b2', 'a3', 'b3']);
  });

  test('work without a party takes any free place', async () => {
    const turns = createTurns(2);
    const leave = await Promise.all([turns.enter(undefined), turns.enter(undefined)]);
    for (const one of leave) one();
  });
});
