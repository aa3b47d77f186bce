import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';

const module = new URL('../../../../src/http/server/own-folder.ts', import.meta.url).href;
const shared = mkdtempSync(join(tmpdir(), 'echelon-shared-'));
after(() => rmSync(shared, { recursive: true, force: true }));

/** Starts an api that has a file in its folder: as the first process of a container of a pod if `contained`. */
async function start(
  act: string,
  { contained = false } = {},
): Promise<{ child: ChildProcess; said: string }> {
  const program = `import { ownFolder, removeLeftFolders } from ${JSON.stringify(module)};
    import { writeFileSync } from 'node:fs';
    const folder = await ownFolder();
    writeFileSync(folder + '/file', 'live');
    ${act}`;
  const command = [process.execPath, '--input-type=module', '-e', program];
  const [name, ...rest] = contained ? ['unshare', '--pid', '--fork', '--kill-child', ...command] : command;
  const child = spawn(name!, rest, {
    env: { ...process.env, TMPDIR: shared },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [said] = (await once(createInterface(child.stdout!), 'line')) as [string];
  return { child, said };
}

const STAY = 'console.log(folder); process.stdin.resume(); process.stdin.on("end", () => process.exit(0));';
const CLEAN = 'await removeLeftFolders(); console.log(folder); process.exit(0);';

test('a starting api deletes what killed ones left, and nothing of a live one whose container has the same names and numbers', async () => {
  const live = await start(STAY, { contained: true });
  const killed = await start(STAY);
  killed.child.kill('SIGKILL');
  await once(killed.child, 'exit');
  const prefix = basename(killed.said).slice(0, -6);
  const [fresh, old, foreign] = [
    `${prefix}aaaaaa.new`,
    `${prefix}bbbbbb.new`,
    'echelon-files-other-cccccc',
  ].map((name) => join(shared, name));
  for (const folder of [fresh!, old!, foreign!]) {
    mkdirSync(folder);
    writeFileSync(join(folder, 'file'), '');
  }
  utimesSync(old!, new Date(0), new Date(0));
  assert.deepEqual([existsSync(live.said), existsSync(killed.said)], [true, true]);
  const cleaner = await start(CLEAN, { contained: true });
  await once(cleaner.child, 'exit');
  assert.ok(existsSync(join(live.said, 'file')));
  assert.deepEqual([killed.said, old!, cleaner.said].map(existsSync), [false, false, false]);
  assert.deepEqual([fresh!, foreign!].map(existsSync), [true, true]);
  live.child.stdin!.end();
  await once(live.child, 'exit');
  assert.equal(existsSync(live.said), false);
});
