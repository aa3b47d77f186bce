import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { fromGrpc, RayWorkerError } from '../../../src/rpc/status.ts';

function serviceError(code: status): ServiceError {
  return Object.assign(new Error(`${code}`), { code, details: 'details', metadata: new Metadata() });
}

describe('fromGrpc', () => {
  test('fromGrpc gives every gRPC status a fault and a registered code', () => {
    for (const code of Object.values(status).filter((value) => typeof value === 'number')) {
      const error = fromGrpc(serviceError(code), 'Launch at h:1');
      assert.ok(error.fault);
      assert.match(error.message, /^Launch at h:1: [A-Z_]+: details$/);
      assert.ok(error.status >= 400);
    }
  });

  test('fromGrpc says retry exactly if the same call may succeed later', () => {
    const retried = [
      status.UNAVAILABLE,
      status.DEADLINE_EXCEEDED,
      status.INTERNAL,
      status.RESOURCE_EXHAUSTED,
    ];
    for (const code of retried) assert.equal(fromGrpc(serviceError(code), 'x').retry, true, status[code]);
    const final = [status.INVALID_ARGUMENT, status.NOT_FOUND, status.UNAUTHENTICATED, status.DATA_LOSS];
    for (const code of final) assert.equal(fromGrpc(serviceError(code), 'x').retry, false, status[code]);
  });

  /* Fails where the status alone decides: a connection that was closed after a freeze would be a cluster without disk. */
  test('fromGrpc says exhausted, and another version, only if the ray-worker says so itself', () => {
    const error = serviceError(status.RESOURCE_EXHAUSTED);
    assert.equal(fromGrpc(error, 'x').fault, 'unreachable');
    error.metadata.set('echelon-fault', 'exhausted');
    assert.equal(fromGrpc(error, 'x').fault, 'exhausted');
    const refused = serviceError(status.FAILED_PRECONDITION);
    assert.equal(fromGrpc(refused, 'x').fault, 'invalid');
    refused.metadata.set('echelon-fault', 'version');
    assert.equal(fromGrpc(refused, 'x').fault, 'version');
  });

  test('knows our own abort from a cancellation by the other side', () => {
    const error = serviceError(status.CANCELLED);
    assert.equal(fromGrpc(error, 'x').fault, 'unreachable');
    assert.equal(fromGrpc(error, 'x', AbortSignal.abort()).fault, 'aborted');
  });

  test('fromGrpc takes any other error for unreachable, and returns a RayWorkerError as it is', () => {
    assert.equal(fromGrpc(new Error('boom'), 'x').fault, 'unreachable');
    assert.equal(fromGrpc(undefined, 'x').fault, 'unreachable');
    assert.equal(fromGrpc({ code: 'ECONNRESET' }, 'x').fault, 'unreachable');
    const ours = new RayWorkerError('damaged', 'm');
    assert.equal(fromGrpc(ours, 'x'), ours);
  });
});
