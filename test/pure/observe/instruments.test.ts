import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { counter, gauge } from '../../../src/observe/instruments.ts';
import { numberAt } from '../../support/exposition.ts';

test('instruments are shown by their registry alone', async () => {
  const [registry, other] = [new Registry(), new Registry()];
  gauge(registry, 'one', 'One', ['kind']).set({ kind: 'a' }, 2);
  counter(registry, 'two', 'Two').inc(3);
  const text = await registry.metrics();
  assert.deepEqual([numberAt(text, 'one', { kind: 'a' }), numberAt(text, 'two')], [2, 3]);
  assert.match(text, /# HELP one One/);
  assert.doesNotMatch(await other.metrics(), /one|two/);
});
