import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Decorators, decorate, decorateAll } from '../../../src/core/decorate.ts';

const shelf = () => ({
  label: 'a shelf',
  taken: [] as string[],
  async take(name: string, count = 1) {
    this.taken.push(...Array.from({ length: count }, () => name));
    return this.taken.length;
  },
  async empty(reason: string) {
    throw new Error(`not emptied: ${reason}`);
  },
});

test('a decorated method is called on its object with every argument, and its decorator sees arguments and result', async () => {
  const seen: unknown[] = [];
  const plain = shelf();
  const decorators: Decorators<typeof plain> = {
    async take(call, [name, count]) {
      const left = await call();
      seen.push(name, count, left);
      return left;
    },
  };
  const decorated = decorate(plain, decorators);
  assert.equal(await decorated.take('book', 2), 2);
  assert.deepEqual(seen, ['book', 2, 2]);
  assert.deepEqual(plain.taken, ['book', 'book']);
  assert.equal(decorated.label, 'a shelf');
  await assert.rejects(decorated.empty('kept'), /not emptied: kept/);
});

test('decorateAll sees every call but those of the methods that it excepts', async () => {
  let calls = 0;
  const decorated = decorateAll(shelf(), {
    except: new Set(['empty']),
    around: (call) => {
      calls += 1;
      return call();
    },
  });
  assert.equal(await decorated.take('book', 3), 3);
  await assert.rejects(decorated.empty('kept'), /not emptied: kept/);
  assert.equal(calls, 1);
});

test('two decorations on top of each other lose no argument', async () => {
  const once = decorate(shelf(), { take: (call) => call() });
  const twice = decorateAll(once, { except: new Set(), around: (call) => call() });
  assert.equal(await twice.take('book', 4), 4);
});
