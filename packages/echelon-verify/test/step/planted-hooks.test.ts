import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PLANTED } from './planted.ts';
import { HOOKS, type HookName, hookRecords } from './planted-hooks.ts';

const sources = PLANTED.map(({ source }) => source).toSorted();

for (const name of Object.keys(HOOKS) as HookName[]) {
  const { planted, notPlanted } = hookRecords()[name];

  test(`each bug is planted into ${HOOKS[name]}, or the record says why not`, () => {
    assert.deepEqual([...Object.keys(planted), ...Object.keys(notPlanted)].toSorted(), sources);
  });

  test(`no bug that is planted into ${HOOKS[name]} ends with status 0, and each is found`, () => {
    for (const [source, { status, found }] of Object.entries(planted)) {
      assert.notEqual(status, 0, source);
      assert.ok(found.length > 0, source);
      const isWrong = found.some((one) => !one.startsWith('finding '));
      assert.equal(status, isWrong ? 1 : 3, source);
    }
  });
}
