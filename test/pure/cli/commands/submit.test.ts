import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Command } from 'commander';
import { idempotencyHeader, withIdempotencyKey } from '../../../../src/cli/commands/submit.ts';

test('an idempotency key is sent as given, and is random by default', () => {
  const command = withIdempotencyKey(new Command('x'));
  command.parse(['--idempotency-key', 'k1'], { from: 'user' });
  assert.deepEqual(idempotencyHeader(command.opts()), { 'idempotency-key': 'k1' });
  const [one, other] = [idempotencyHeader({}), idempotencyHeader({})];
  assert.notEqual(one['idempotency-key'], other['idempotency-key']);
});
