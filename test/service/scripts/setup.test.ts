import assert from 'node:assert/strict';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { hasRedis } from '../../../scripts/setup/redis.mjs';

test('the set-up accepts a Redis or Valkey of version 7 or newer on PATH, and no older one', async (t) => {
  const programs: [name: string, version: string, isAccepted: boolean][] = [
    ['redis-server', 'Redis server v=6.0.16 sha=0', false],
    ['redis-server', 'Redis server v=7.0.15 sha=0', true],
    ['valkey-server', 'Valkey server v=9.1.2 sha=0', true],
  ];
  for (const [name, version, isAccepted] of programs) {
    const folder = await mkdtemp(join(tmpdir(), 'echelon-setup-'));
    t.after(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, name), `#!/bin/sh\necho '${version}'\n`);
    await chmod(join(folder, name), 0o755);
    assert.equal(hasRedis(folder), isAccepted, version);
  }
});
