import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CliError, EXIT } from 'echelon-verify/cli/exit';
import { unlessChanged } from '../../../src/cli/unless-changed.ts';

test('a change is made again after another change by a user, and any other error is thrown', async () => {
  let tries = 0;
  const changed = new CliError(EXIT.refused, 'changed', 'precondition-failed');
  const change = async () => {
    tries += 1;
    if (tries < 3) throw changed;
    return 'done';
  };
  assert.equal(await unlessChanged(change), 'done');
  assert.equal(tries, 3);
  await assert.rejects(
    unlessChanged(() => Promise.reject(new Error('other'))),
    /other/,
  );
});
