import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import { AuditEntry } from '../../../src/schemas/audit.ts';
import { STRICT_AJV } from '../../../src/schemas/check.ts';

test('the schema of an audit entry refuses a body', () => {
  const entry = {
    ...{ id: '1-1', at: 1, caller: null, name: null, project: null, action: 'a', target: null, status: 401 },
    ...{ outcome: 'refused', code: 'unauthenticated', requestId: 'r', address: '::1', note: null },
  };
  const ajv = new Ajv(STRICT_AJV);
  assert.ok(ajv.validate(AuditEntry, entry), ajv.errorsText());
  assert.ok(!ajv.validate(AuditEntry, { ...entry, body: {} }));
});
