import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CliError, EXIT } from 'command-kit/exit';
import { readPages } from '../../../src/cli/client.ts';
import { unlessChanged } from '../../../src/cli/unless-changed.ts';

/** A list of `count` numbers whose cursor is the next number. */
const listOf =
  (count: number) =>
  async ({ cursor = '0', limit }: { cursor: string | undefined; limit: number }) => {
    const items = Array.from({ length: count }, (_, at) => at).slice(Number(cursor), Number(cursor) + limit);
    const next = Number(cursor) + items.length;
    return { items, next: next < count ? String(next) : null };
  };

test('all entries are read over several pages if there is no limit', async () => {
  assert.deepEqual(await readPages(listOf(5), { maxPage: 2 }), { items: [0, 1, 2, 3, 4], next: null });
});

test('reading stops at the limit with the cursor of the next entry', async () => {
  assert.deepEqual(await readPages(listOf(5), { limit: 3, maxPage: 2 }), { items: [0, 1, 2], next: '3' });
  assert.equal((await readPages(listOf(3), { limit: 3, maxPage: 2 })).next, null);
});

test('a change is made again after another change by a user, and any other error is thrown', async () => {
  let tries = 0;
  const changed = new CliError(EXIT.refused, 'changed', 'precondition-failed');
  const change = async () => {
    tries += 1;
    if (tries < 3) throw changed;
    return 'done';
  };
  assert.equal(await unlessChanged(change), 'done');
  assert.equal(tries, 3);
  await assert.rejects(
    unlessChanged(() => Promise.reject(new Error('other'))),
    /other/,
  );
});
