import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import protobuf from 'protobufjs';
import { METHODS } from '../../../src/rpc/methods.ts';

const PROTO = join(import.meta.dirname, '../../../proto/echelon/rayworker/v1/rayworker.proto');

test('the methods are those of proto/, repeated only where proto/ says that they may be', () => {
  const service = protobuf.loadSync(PROTO).lookupService('echelon.rayworker.v1.RayWorker');
  assert.deepEqual(Object.keys(METHODS).toSorted(), Object.keys(service.methods).toSorted());
  for (const [name, method] of Object.entries(METHODS)) {
    const level = String(service.methods[name]?.options?.idempotency_level ?? 'IDEMPOTENCY_UNKNOWN');
    assert.equal(method.idempotent, level === 'IDEMPOTENT' || level === 'NO_SIDE_EFFECTS', name);
    assert.equal(method.path, `/echelon.rayworker.v1.RayWorker/${name}`);
  }
});

test('requests and responses survive the wire', () => {
  const bytes = METHODS.Launch.encode({
    experiment: 'exp-a',
    attempt: 2,
    plan: { engine: 'local', arguments: ['a=1', ''], environment: { A: 'b' }, gpus: 0.5 },
  });
  const type = protobuf.loadSync(PROTO).lookupType('echelon.rayworker.v1.LaunchRequest');
  const seen = type.toObject(type.decode(bytes));
  assert.deepEqual(seen, {
    experiment: 'exp-a',
    attempt: 2,
    plan: { engine: 'local', arguments: ['a=1', ''], environment: { A: 'b' }, gpus: 0.5 },
  });
  assert.equal(METHODS.Stop.decode(Buffer.from([0x08, 0x01])).dropped, true);
});
