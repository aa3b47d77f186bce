import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verifyStep } from '../../src/step/verify-step.ts';
import { foundBy, nameOf } from './detection.ts';
import { correctStep, PLANTED } from './planted.ts';

test('the step into which bugs are planted is exact without one', () => {
  const report = verifyStep(correctStep());
  assert.equal(report.ok, true);
  assert.deepEqual(report.findings, []);
});

for (const planted of PLANTED) {
  test(`the bug of ${planted.source}, ${planted.what}, is found${planted.named ? ' and named' : ''}`, () => {
    const batch = planted.batch();
    const report = verifyStep(batch);
    const all = foundBy(report);
    if ('stage' in planted.found) assert.ok(all.includes(`stage ${planted.found.stage}`), all.join());
    else if ('finding' in planted.found)
      assert.ok(all.includes(`finding ${planted.found.finding}`), all.join());
    else assert.ok(all.includes(`value ${planted.found.value}`), all.join());
    if (planted.named) assert.match(nameOf(batch, report), planted.named);
  });
}

for (const { source, what, right } of PLANTED) {
  if (right === undefined) continue;
  test(`the step without the bug of ${source}, ${what}, is ok`, () => {
    const { ok, findings } = verifyStep(right());
    assert.equal(ok, true);
    assert.deepEqual(findings, []);
  });
}
