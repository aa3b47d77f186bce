import assert from 'node:assert/strict';
import { test } from 'node:test';
import { installPackage } from '../../../../test/support/packed.ts';
import { sharedRayHead } from '../support/ray-head.ts';

test('ray-client-ts, installed alone, prints what its README says, and its process ends by itself', async () => {
  await using installed = await installPackage('ray-client-ts');
  const said = [...(/prints `(.+?)` and `(.+?)`/.exec(installed.readme) ?? [])].slice(1);
  const head = await sharedRayHead();
  const { stdout, stderr } = await installed.runExample({ ...head.environment, RAY_ADDRESS: head.address });
  assert.deepEqual(stdout.trim().split('\n'), said);
  assert.equal(stderr, '');
});
