import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

for (const folder of ['deploy/ray-worker', 'test'])
  test(`the Python lock of ${folder} pins its requirements, and everything in it has hashes`, () => {
    const stated = readFileSync(`${folder}/requirements.txt`, 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    const entries = readFileSync(`${folder}/requirements.lock`, 'utf8')
      .split(/\n(?! )/)
      .filter(Boolean);
    const pinned = entries.map((entry) => entry.split(' ', 1)[0]);
    assert.deepEqual(
      stated.filter((requirement) => !pinned.includes(requirement)),
      [],
      'run scripts/generate-python-locks.sh',
    );
    for (const entry of entries) assert.match(entry, /^[a-z0-9-]+==\S+ [\s\S]*--hash=sha256:[0-9a-f]{64}/);
  });
