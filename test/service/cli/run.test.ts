import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const MAIN = join(import.meta.dirname, '../../../src/cli/main.ts');

/** Prints what of node_modules a program has loaded, when it ends. */
const SPY = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  const packages = new Set();
  registerHooks({ load(url, context, next) {
    packages.add(/node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1]);
    return next(url, context);
  } });
  process.on('exit', () => console.error([...packages].join(' ')));
`)}`;

test('what most commands never need is not loaded for their help', () => {
  const { stderr, status } = spawnSync(process.execPath, ['--import', SPY, MAIN, '--help'], {
    encoding: 'utf8',
  });
  const loaded = stderr.trim().split(' ');
  assert.equal(status, 0);
  assert.ok(loaded.includes('commander'), stderr);
  for (const heavy of ['@grpc/grpc-js', 'ioredis', 'bullmq', 'fastify', 'cli-progress'])
    assert.ok(!loaded.includes(heavy), `${heavy} is loaded`);
});

test('a full disk under standard output leads to a message and a status, a closed pipe to neither', {
  skip: !existsSync('/dev/full'),
}, () => {
  const shell = (line: string) =>
    spawnSync('bash', ['-c', line, process.execPath, MAIN], { encoding: 'utf8' });
  const full = shell('"$0" "$1" --help > /dev/full');
  assert.equal(full.status, 1, full.stderr);
  assert.match(full.stderr, /^echelon: Cannot write to standard output: ENOSPC.*\n$/);
  const pipe = shell('"$0" "$1" completion bash | head -1; exit $PIPESTATUS');
  assert.deepEqual([pipe.status, pipe.stderr], [0, '']);
});

test('a command that fails ends with the status of its error: wrong usage 2, no server 3', () => {
  const statusOf = (...argv: string[]) => spawnSync(process.execPath, [MAIN, ...argv]).status;
  assert.equal(statusOf('no-such-command'), 2);
  assert.equal(statusOf('ls', '--url', 'http://127.0.0.1:9', '--token', 'a-token-0123456789'), 3);
});
