import assert from 'node:assert/strict';
import { test } from 'node:test';
import protobuf from 'protobufjs';
import { toDescription, toFindings } from '../../../src/rpc/description.ts';
import { METHODS } from '../../../src/rpc/methods.ts';
import { RayWorkerError } from '../../../src/rpc/status.ts';

const root = protobuf.loadSync('proto/echelon/rayworker/v1/rayworker.proto');

/** The bytes of an answer as a ray-worker would send it. */
function sent(name: string, body: object): Buffer {
  const type = root.lookupType(`echelon.rayworker.v1.${name}`);
  return Buffer.from(type.encode(type.fromObject(body)).finish());
}
const described = (body: object) => toDescription(METHODS.Describe.decode(sent('DescribeResponse', body)));
const found = (body: object) => toFindings(METHODS.Preflight.decode(sent('PreflightResponse', body)));
const times = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);

test('amounts of a node that are negative, infinite or not a number do not reach the scheduler', () => {
  const amounts = [Number.NaN, -1, Number.POSITIVE_INFINITY, 2 ** 60, 7.5];
  const { nodes } = described({
    nodes: amounts.map((value) => ({
      cpusTotal: value,
      gpusTotal: value,
      usesKnown: true,
      uses: [{ gpus: value }],
    })),
  });
  const expected = [0, 0, 2 ** 20, 2 ** 20, 7.5];
  assert.deepEqual(
    nodes.map(({ cpusTotal }) => cpusTotal),
    expected,
  );
  assert.deepEqual(
    nodes.map(({ gpusTotal }) => gpusTotal),
    expected,
  );
  assert.deepEqual(
    nodes.map(({ uses }) => uses![0]!.gpus),
    expected,
  );
});

test('texts of a description and of findings are cut with a mark', () => {
  const long = 'x'.repeat(100_000);
  const gpu = { gpu: long, model: long, faults: [long] };
  const node = {
    id: long,
    address: long,
    labels: { [long]: long },
    health: { gpus: [gpu] },
    usesKnown: true,
    uses: [{ name: long }],
  };
  const shown = JSON.stringify([
    described({ version: long, sharedRoot: long, engines: [long], nodes: [node] }),
    found({ findings: [{ check: long, message: long, remedy: long }] }),
  ]);
  assert.ok(shown.length < 20_000, `${shown.length} characters`);
  assert.ok(shown.includes('x… [cut]'));
});

test('a description or a preflight with more entries than are read is refused, and says which', () => {
  const labels = Object.fromEntries(times(65, '').map((_one, at) => [`l${at}`, '']));
  const cases: [string, () => unknown][] = [
    ['nodes', () => described({ nodes: times(4097, {}) })],
    ['engines', () => described({ engines: times(65, 'a') })],
    ['labels of a node', () => described({ nodes: [{ labels }] })],
    ['uses of a node', () => described({ nodes: [{ usesKnown: true, uses: times(1025, {}) }] })],
    ['GPUs of a node', () => described({ nodes: [{ health: { gpus: times(65, {}) } }] })],
    ['faults of a GPU', () => described({ nodes: [{ health: { gpus: [{ faults: times(65, '') }] } }] })],
    ['findings', () => found({ findings: times(257, {}) })],
  ];
  for (const [what, read] of cases)
    assert.throws(
      read,
      (error) => error instanceof RayWorkerError && error.message.includes(` ${what}; at most `),
      what,
    );
});
