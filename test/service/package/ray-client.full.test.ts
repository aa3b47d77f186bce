import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ONE_NODE, startRayHead } from '../../../packages/ray-client-ts/test/support/ray-head.ts';
import { builtFor, installPackage } from '../../support/packed.ts';

test('ray-client-ts, installed alone, prints what its README says, and its process ends by itself', async (t) => {
  await using installed = await installPackage(await builtFor(t), 'ray-client-ts');
  await using head = await startRayHead(ONE_NODE);
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
