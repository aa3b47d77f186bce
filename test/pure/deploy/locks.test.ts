import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

interface Locked {
  integrity?: string;
  optional?: boolean;
  resolved?: string;
  link?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
}

const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
  packages: Record<string, Locked>;
};
/** Without the packages of this repository, which are links to `packages/`. */
const locked = Object.entries(packages).filter(
  ([path, { link }]) => path.startsWith('node_modules/') && !link,
);

test('every package that a Linux machine with glibc installs is locked with its digest', () => {
  const bare = locked.filter(([, { integrity }]) => integrity === undefined);
  for (const [path, { optional, os, cpu, libc }] of bare) {
    assert.ok(optional, path);
    const elsewhere = !os?.includes('linux') || libc?.includes('musl') || cpu?.includes('arm');
    assert.ok(elsewhere, path);
  }
  // SECURITY.md names their number.
  assert.equal(bare.length, 12);
});

test('no package is locked to the address of a registry', () => {
  for (const [path, { resolved }] of locked) assert.equal(resolved, undefined, path);
});

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
