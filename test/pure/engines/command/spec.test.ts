import assert from 'node:assert/strict';
import { test } from 'node:test';
import { specProblems } from '../../../../src/engines/validate-spec.ts';

const SMALL = { engine: 'command', name: 'x', command: ['python', 'train.py'] };
const fields = (spec: object) => specProblems({ ...SMALL, ...spec }).map(({ field }) => field);

test('a command spec refuses paths that leave their directory, unknown fields, and plain secrets in arguments', () => {
  for (const path of ['/etc', '..', '../x', 'a/..', 'a/../b', 'a\\b', '', 'a\nb'])
    assert.deepEqual(fields({ workingDir: path }), ['/workingDir'], path);
  for (const path of ['a', 'a/b', '..a', 'a..b/c', './a'])
    assert.deepEqual(fields({ workingDir: path }), [], path);
  assert.deepEqual(fields({ metrics: { tensorboard: '../x' } }), ['/metrics/tensorboard']);
  assert.deepEqual(fields({ files: { '../x': '' } }), ['/files/..~1x']);
  assert.deepEqual(fields({ batches: '/tmp' }), ['/batches']);
  assert.deepEqual(fields({ shell: true }), ['/shell']);
  assert.deepEqual(fields({ command: [] }), ['/command']);
  assert.deepEqual(fields({ command: ['x', '--api-key=Zx81hJq0PLm3Ns92kdQw'] }), ['/command/1']);
  for (const pattern of ['loss', '{number} {number}', '(a+)+{number}{'])
    assert.deepEqual(fields({ metrics: { lines: { step: '{number}', loss: pattern } } }), [
      '/metrics/lines/loss',
    ]);
});
