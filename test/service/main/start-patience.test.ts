import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EchelonError } from '../../../src/core/errors.ts';
import { createStartPatience } from '../../../src/main/start-patience.ts';
import type { Log } from '../../../src/observe/log.ts';
import { coded } from '../../support/store.ts';

function bench(waitMs: number) {
  const said: unknown[] = [];
  const log = { warn: (_what: object, text: string) => void said.push(text) } as unknown as Log;
  return { said, patience: createStartPatience({ waitMs, log }) };
}

const away = (message = 'ECONNREFUSED') =>
  new EchelonError('store-unavailable', 'The store does not answer', { cause: new Error(message) });

test('waits for a store that is away, and says so once', async () => {
  const { said, patience } = bench(60_000);
  let tries = 0;
  const step = async () => {
    tries += 1;
    if (tries % 3 > 0) throw away();
    return tries;
  };
  assert.deepEqual([await patience(step), await patience(step)], [3, 6]);
  assert.deepEqual(said, ['the store does not answer; waiting for it, 60 s at most']);
});

test('a wait that is over, a refusal and any other error end it at once', async () => {
  const { said, patience } = bench(60_000);
  const failing = (error: Error) => () => Promise.reject(error);
  await assert.rejects(bench(0).patience(failing(away())), coded('store-unavailable'));
  await assert.rejects(patience(failing(away('WRONGPASS invalid'))), coded('store-unavailable'));
  await assert.rejects(
    patience(failing(new EchelonError('store-misconfigured', 'no'))),
    coded('store-misconfigured'),
  );
  assert.deepEqual(said, []);
});
