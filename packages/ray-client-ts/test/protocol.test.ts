import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as ray from '../src/index.ts';
import { DATAPATH, LOGSTREAM, UNARY } from '../src/protocol.ts';

test('methods have the paths that Ray listens on', () => {
  assert.equal(UNARY.clusterInfo.path, '/ray.rpc.RayletDriver/ClusterInfo');
  assert.equal(UNARY.pinRuntimeEnv.path, '/ray.rpc.RayletDriver/PinRuntimeEnvURI');
  assert.equal(DATAPATH.path, '/ray.rpc.RayletDataStreamer/Datapath');
  assert.equal(LOGSTREAM.path, '/ray.rpc.RayletLogStreamer/Logstream');
  assert.ok(DATAPATH.requestStream && DATAPATH.responseStream && !UNARY.kvGet.requestStream);
});

test('an absent value differs from an empty one', () => {
  assert.equal(UNARY.kvGet.responseDeserialize(Buffer.alloc(0)).value ?? undefined, undefined);
  assert.deepEqual([...(UNARY.kvGet.responseDeserialize(Buffer.from('0a00', 'hex')).value ?? [1])], []);
});

test('field numbers are those of Ray', () => {
  const bytes = DATAPATH.requestSerialize({
    req_id: 3,
    task: {
      type: 4,
      name: 'gw',
      namespace: 'studio',
      client_id: 'c',
      data: Buffer.from([1]),
      total_chunks: 1,
    },
  });
  assert.equal(
    bytes.toString('hex'),
    '0803' + '5216' + '0804' + '12026777' + '320163' + '4a0673747564696f' + '520101' + '6001',
  );
});

test('unknown fields are ignored', () => {
  // ConnectionInfoResponse of an old server: field 5, protocol_version.
  const bytes = Buffer.from('08022a0812' + '03322e342a0178', 'hex');
  const response = DATAPATH.responseDeserialize(bytes);
  assert.equal(response.connection_info?.ray_version, '2.4');
});

test('the package export holds what a caller needs', () => {
  for (const name of [
    'connect',
    'credentialsFromEnvironment',
    'functionRef',
    'sourceActorClass',
    'RayPythonError',
  ]) {
    assert.ok(name in ray, name);
  }
});

test('what is generated, and what carries the wire, stays inside', () => {
  for (const name of Object.keys(ray)) assert.doesNotMatch(name, /Datapath|DataPath|Exchange|rpc/i);
});
