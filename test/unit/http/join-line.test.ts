import assert from 'node:assert/strict';
import { test } from 'node:test';
import { joinLine } from '../../../src/http/join-line.ts';
import type { RouteDeps } from '../../../src/http/server/deps.ts';

test('a job that cannot be had is logged and thrown at nobody', async () => {
  const logged: object[] = [];
  const join = async (id: string) => {
    if (id === 'exp-b') throw new Error('away');
  };
  const deps = { line: { join }, log: { warn: (what: object) => void logged.push(what) } };
  joinLine(deps as unknown as RouteDeps, [
    { experiment: 'exp-a', priority: 0 },
    { experiment: 'exp-b', priority: 0 },
  ]);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(logged.length, 1);
  assert.deepEqual(
    { ...logged[0], err: undefined },
    { err: undefined, experiments: ['exp-a', 'exp-b'], of: 2 },
  );
});
