import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { unzipSync } from 'fflate';
import { compareVersions, packRayWorker } from '../../../../../src/dispatch/clusters/setup/package.ts';

const PACKAGE = new URL('../../../../../deploy/ray-worker', import.meta.url).pathname;

test('the package has its own files only, and equal files give an equal zip', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'echelon-pack-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const copy = join(directory, 'echelon_rayworker');
  cpSync(join(PACKAGE, 'echelon_rayworker'), copy, { recursive: true });
  const first = packRayWorker(directory);
  mkdirSync(join(copy, '__pycache__'), { recursive: true });
  writeFileSync(join(copy, '__pycache__/actor.cpython-311.pyc'), 'x');
  writeFileSync(join(copy, '__pycache__/left.py'), 'x');
  writeFileSync(join(copy, 'notes.txt'), 'x');
  utimesSync(join(copy, 'actor.py'), 1, 1);
  const again = packRayWorker(directory);
  assert.deepEqual(Buffer.from(again.zip), Buffer.from(first.zip));
  const files = Object.keys(unzipSync(first.zip));
  for (const file of ['__init__.py', 'actor.py', 'gen/rayworker_pb2.py', 'engines/replay/recorded.json.gz'])
    assert.ok(files.includes(`echelon_rayworker/${file}`), file);
  assert.match(first.version, /^\d+\.\d+\.\d+/);
  writeFileSync(join(copy, 'actor.py'), '');
  assert.notDeepEqual(Buffer.from(packRayWorker(directory).zip), Buffer.from(first.zip));
});

test('the package brings the capture along, with all files that both share', () => {
  const files = unzipSync(packRayWorker(PACKAGE).zip);
  const shared = readdirSync(join(PACKAGE, '../capture/echelon_capture/shared')).filter((file) =>
    file.endsWith('.py'),
  );
  for (const file of ['__init__.py', 'recorder.py', ...shared.map((one) => `shared/${one}`)])
    assert.ok(files[`echelon_capture/${file}`], file);
  const text = (file: string) => Buffer.from(files[file]!).toString();
  assert.equal(text('echelon_capture/shared/batch.py'), text('echelon_rayworker/batch.py'));
  assert.match(text('echelon_capture/shared/reporter.py'), /class Reporter/);
});

test('a directory without the package is an error', () => {
  assert.throws(() => packRayWorker(tmpdir()), /echelon_rayworker is not in/);
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
