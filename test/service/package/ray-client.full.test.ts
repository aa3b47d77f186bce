import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedRayHead } from '../../../packages/ray-client-ts/test/support/ray-head.ts';
import { installPackage } from '../../support/packed.ts';

test('ray-client-ts, installed alone, prints what its README says, and its process ends by itself', async () => {
  await using installed = await installPackage('ray-client-ts');
  const head = await sharedRayHead();
  const environment = { ...head.environment, RAY_ADDRESS: head.address };
  const said = [/prints `(.+?)`\. Several/, /prints `(.+?)` and `(.+?)`/].map((text) =>
    [...(text.exec(installed.readme) ?? [])].slice(1),
  );
  for (const [example, lines] of said.entries()) {
    const { stdout, stderr } = await installed.runExample(environment, example);
    assert.deepEqual(stdout.trim().split('\n'), lines);
    assert.equal(stderr, '');
  }
});
