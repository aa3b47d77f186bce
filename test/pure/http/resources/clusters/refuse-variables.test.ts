import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuseVariables } from '../../../../../src/http/resources/clusters/refuse-variables.ts';

test("a cluster's variables may hold any plain value, but no secret and no variable of Ray", () => {
  refuseVariables({ HF_ENDPOINT: 'https://mirror.example.org', MY_SETTING: '1' });
  assert.throws(() => refuseVariables({ RAY_ADDRESS: 'x:1' }), {
    code: 'invalid-request',
    message: /RAY_ADDRESS/,
  });
  const token = `hf_${'a1B2'.repeat(8)}`;
  assert.throws(
    () => refuseVariables({ HF_TOKEN: token }),
    (error: Error) => !error.message.includes(token),
  );
});
