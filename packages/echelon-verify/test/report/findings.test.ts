import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { FINDINGS, finding, some } from '../../src/report/findings.ts';
import { MAX_LISTED_ROWS } from '../../src/report/report.ts';

describe('findings', () => {
  test('every code is raised somewhere', () => {
    const folder = new URL('../../src/', import.meta.url);
    const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.endsWith('findings.ts'))
      .map((file) => readFileSync(new URL(file, folder), 'utf8'))
      .join('\n');
    for (const code of Object.keys(FINDINGS))
      assert.match(sources, new RegExp(`finding\\(\\s*'${code}'`), code);
  });

  test('messages say what is wrong and end with the remedy', () => {
    const made = finding('step-gap', 'One trajectory lacks step 2.', [4]);
    assert.deepEqual([made.code, made.severity, made.rows], ['step-gap', 'error', [4]]);
    assert.equal(made.message, `One trajectory lacks step 2. ${FINDINGS['step-gap'].remedy}`);
    for (const { means, remedy } of Object.values(FINDINGS))
      assert.ok(means.endsWith('.') && remedy.endsWith('.'));
  });

  test('listed rows are capped', () => {
    assert.equal(
      finding('wrong-rows', 'x', new Int32Array(MAX_LISTED_ROWS + 5)).rows.length,
      MAX_LISTED_ROWS,
    );
  });

  test('a long list is cut, and the number of omitted items is stated', () => {
    assert.equal(some([1, 2, 3]), '1, 2, 3');
    assert.equal(some([1, 2, 3, 4], 2), '1, 2 and 2 more');
  });
});
