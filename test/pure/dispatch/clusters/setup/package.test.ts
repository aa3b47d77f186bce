import assert from 'node:assert/strict';
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { unzipSync } from 'fflate';
import { compareVersions, packRayWorker } from '../../../../../src/dispatch/clusters/setup/package.ts';

const DEPLOY = new URL('../../../../../deploy', import.meta.url).pathname;
const PACKAGES = { rayWorker: join(DEPLOY, 'ray-worker'), capture: join(DEPLOY, 'capture') };

test('the package has its own files only, and equal files give an equal zip', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'echelon-pack-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const copy = join(directory, 'echelon_rayworker');
  cpSync(join(PACKAGES.rayWorker, 'echelon_rayworker'), copy, { recursive: true });
  const packages = { ...PACKAGES, rayWorker: directory };
  const first = packRayWorker(packages);
  mkdirSync(join(copy, '__pycache__'), { recursive: true });
  writeFileSync(join(copy, '__pycache__/actor.cpython-311.pyc'), 'x');
  writeFileSync(join(copy, '__pycache__/left.py'), 'x');
  writeFileSync(join(copy, 'notes.txt'), 'x');
  utimesSync(join(copy, 'actor.py'), 1, 1);
  const again = packRayWorker(packages);
  assert.deepEqual(Buffer.from(again.zip), Buffer.from(first.zip));
  const files = Object.keys(unzipSync(first.zip));
  for (const file of ['__init__.py', 'actor.py', 'gen/rayworker_pb2.py', 'engines/replay/recorded.json.gz'])
    assert.ok(files.includes(`echelon_rayworker/${file}`), file);
  assert.match(first.version, /^\d+\.\d+\.\d+/);
  writeFileSync(join(copy, 'actor.py'), '');
  assert.notDeepEqual(Buffer.from(packRayWorker(packages).zip), Buffer.from(first.zip));
});

test('the package brings the whole capture along', () => {
  const files = unzipSync(packRayWorker(PACKAGES).zip);
  const own = globSync('echelon_capture/**/*.py', { cwd: PACKAGES.capture });
  assert.ok(own.includes('echelon_capture/format/batch.py'));
  for (const file of own)
    assert.deepEqual(Buffer.from(files[file]!), readFileSync(join(PACKAGES.capture, file)), file);
});

test('a directory without one of the packages is an error', () => {
  const packed = (change: object) => () => packRayWorker({ ...PACKAGES, ...change });
  assert.throws(packed({ rayWorker: tmpdir() }), /echelon_rayworker is not in/);
  assert.throws(packed({ capture: tmpdir() }), /echelon_capture is not in/);
});

test('versions are compared as numbers', () => {
  const order = ['0.0.9', '0.1.0', '0.1.1', '0.2', '0.10.0', '1.0.0', '1.0.0.1'];
  for (const [at, version] of order.entries())
    for (const [other, against] of order.entries())
      assert.equal(
        Math.sign(compareVersions(version, against)),
        Math.sign(at - other),
        `${version} ${against}`,
      );
  assert.equal(compareVersions('1.0', '1.0.0'), 0);
});
