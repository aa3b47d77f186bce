import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { objectStoreBytes } from '../../../../src/cli/local/ray-head.ts';
import { hasTokens, rayVersion, requireClosed } from '../../../../src/cli/local/ray-release.ts';

test('tokens begin with Ray 2.52', () => {
  const answers = ['2.9.3', '2.50.0', '2.51.2', '2.52.0', '2.60.0', '3.0.0'].map(hasTokens);
  assert.deepEqual(answers, [false, false, false, true, true, true]);
});

test('a Ray that would let in everyone is refused with what can be done', () => {
  const network = ['10.0.0.5'];
  assert.throws(() => requireClosed('2.50.0', {}, network), {
    name: 'CliError',
    message:
      /Ray 2\.50\.0 knows no tokens: on 10\.0\.0\.5 .*\n.*2\.52 or newer.*\n.*RAY_USE_TLS=1.*\n.*only loopback/,
  });
  requireClosed('2.50.0', {}, []);
  requireClosed('2.50.0', { RAY_USE_TLS: '1' }, network);
  requireClosed('2.52.0', {}, network);
});

test('the version is that of the Python that is named', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'echelon-release-'));
  t.after(() => rm(folder, { recursive: true }));
  const python = join(folder, 'python');
  await writeFile(python, '#!/bin/sh\necho "ModuleNotFoundError: No module named \'ray\'" >&2\nexit 1\n', {
    mode: 0o755,
  });
  await assert.rejects(
    rayVersion(python, {}),
    /cannot import Ray \(ModuleNotFoundError: No module named 'ray'\)/,
  );
  await assert.rejects(rayVersion(join(folder, 'none'), {}), /there is no such program/);
});

test('the object store grows with the memory and is never smaller than 200 MB', async () => {
  assert.equal(await objectStoreBytes(1e8), 200_000_000);
  assert.ok((await objectStoreBytes(1e9)) >= 200_000_000);
  assert.ok((await objectStoreBytes(64e9)) <= 0.3 * 64e9);
});
