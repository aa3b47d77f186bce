import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ERRORS } from '../../../../../src/core/errors.ts';
import { appFor } from '../../../../support/http-app.ts';

const { call } = await appFor({ after });

test('each registered error code has a page, and any other code gets 404', async () => {
  for (const code of Object.keys(ERRORS)) {
    const response = await call('GET', `/errors/${code}`);
    assert.equal(response.statusCode, 200, code);
    assert.match(response.body, new RegExp(`<h1><code>${code}</code></h1>`));
  }
  for (const code of ['nothing', 'toString', '__proto__', '%3Cscript%3E']) {
    assert.equal((await call('GET', `/errors/${code}`)).statusCode, 404, code);
  }
});
