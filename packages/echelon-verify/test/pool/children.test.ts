import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeBatch } from '../../src/format/batch-wire.ts';
import { type Children, createChildren } from '../../src/pool/children.ts';
import { emptySets } from '../support/attack-files.ts';
import { folder } from '../support/dump-files.ts';
import { goldenBatch } from '../support/golden-batches.ts';

const BUDGET = { budgetMs: 60_000, budgetBytes: 2 ** 24 };
const SMALL = encodeBatch(goldenBatch('one-step-episodes'));

function verified(children: Children): Promise<unknown> {
  const task = { budgetBytes: BUDGET.budgetBytes };
  return children.run({ name: 'verify', task, bytes: SMALL });
}

test('a process that its file ends is replaced, and tasks beside it and after it are carried out', async (t) => {
  const children = createChildren(BUDGET);
  t.after(() => children.close());
  await using at = await folder();
  const { name, bytes } = emptySets(900_000);
  const path = await at.write(name, bytes);
  const hostile = children.run({
    name: 'verifyFile',
    task: { path, name, from: 'slime', budgetBytes: 2 ** 30 },
  });
  const beside = await verified(children);
  assert.ok('answer' in (beside as object));
  assert.ok('died' in (await hostile));
  assert.ok('answer' in ((await verified(children)) as object));
});

test('closing ends running tasks', async () => {
  const children = createChildren(BUDGET);
  await verified(children);
  const running = verified(children);
  await children.close();
  await assert.doesNotReject(running);
});
