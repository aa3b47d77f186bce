import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import { STRICT_AJV } from '../../../src/schemas/check.ts';
import { ApiKeyInput, ApiKeyRotation, isLive } from '../../../src/schemas/key.ts';

const ajv = new Ajv(STRICT_AJV);

test('a key needs at least one scope, and each scope once', () => {
  const fits = (scopes: unknown) => ajv.validate(ApiKeyInput, { name: 'a', scopes });
  assert.ok(fits(['read', 'submit']));
  for (const bad of [[], ['read', 'read'], ['write'], 'read', null]) assert.ok(!fits(bad), String(bad));
  assert.ok(!ajv.validate(ApiKeyInput, { name: 'a', scopes: ['read'], expiresInSeconds: 0 }));
  assert.ok(!ajv.validate(ApiKeyRotation, { overlapSeconds: -1 }));
});

test('a key is live until it is revoked or expires', () => {
  assert.equal(isLive({ revokedAt: null, expiresAt: null }, 5), true);
  assert.equal(isLive({ revokedAt: null, expiresAt: 6 }, 5), true);
  assert.equal(isLive({ revokedAt: null, expiresAt: 5 }, 5), false);
  assert.equal(isLive({ revokedAt: 9, expiresAt: null }, 5), false);
});
