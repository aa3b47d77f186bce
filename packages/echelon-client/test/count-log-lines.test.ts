import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Connection } from '../src/calls.ts';
import { countLogLines } from '../src/count-log-lines.ts';

test('the count of a long log continues after each answer and yields the sum so far', async () => {
  const asked: unknown[] = [];
  const pages = [
    { matching: 3, after: '1-5', more: true },
    { matching: 4, after: '1-9', more: false },
  ];
  const get = async (_path: string, { query }: { query: unknown }) => {
    asked.push(query);
    return pages[asked.length - 1];
  };
  const sums = await Array.fromAsync(
    countLogLines({ get } as unknown as Connection, 'exp-1', { contains: 'x' }),
  );
  assert.deepEqual(sums, [
    { matching: 3, more: true },
    { matching: 7, more: false },
  ]);
  assert.deepEqual(asked, [
    { contains: 'x', after: undefined },
    { contains: 'x', after: '1-5' },
  ]);
});
