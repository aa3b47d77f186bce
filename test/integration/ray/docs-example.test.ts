import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { startRayHead } from '../../support/ray-head.ts';

test('the example of docs/ray-client.md prints what it says, and its process ends by itself', async () => {
  const page = readFileSync('docs/ray-client.md', 'utf8');
  const example = /```ts\n(?<code>[\s\S]*?)```/.exec(page)?.groups?.code;
  assert.ok(example !== undefined);
  assert.ok(example.includes("'echelon/ray'"));
  const said = [...(/prints `(.+?)` and `(.+?)`/.exec(page) ?? [])].slice(1);
  await using head = await startRayHead();
  const directory = mkdtempSync(join(resolve('test/integration/ray'), '.example-'));
  try {
    const script = join(directory, 'example.ts');
    writeFileSync(script, example.replace("'echelon/ray'", `'${resolve('src/ray/index.ts')}'`));
    const env = { ...process.env, ...head.environment, RAY_ADDRESS: head.address };
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [script], {
      env,
      timeout: 150_000,
    });
    assert.deepEqual(stdout.trim().split('\n'), said);
    assert.equal(stderr, '');
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
