import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { DEFECTS } from '../../nemesis/defects.ts';

test('each defect of the campaign edits one place of its file', () => {
  for (const { file, from, removes } of DEFECTS)
    assert.equal(readFileSync(file, 'utf8').split(from).length, 2, `${file}: ${removes}`);
});
