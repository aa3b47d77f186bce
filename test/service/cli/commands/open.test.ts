import assert from 'node:assert/strict';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { apiFor, keptOutput, runProgram } from '../../../support/cli.ts';

const { connection } = await apiFor({ after });
async function open(...argv: string[]) {
  const output = keptOutput();
  await runProgram(output, ['open', ...argv, ...connection]);
  return output;
}

test('open --print prints a link that signs in once', async () => {
  const link = (await open('--print')).lines[0]!;
  const visit = async () => (await fetch(link, { redirect: 'manual' })).status;
  assert.deepEqual([await visit(), await visit()], [303, 401]);
});

test('open gives the link to the opener of the desktop', {
  skip: process.platform !== 'linux',
}, async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'echelon-open-'));
  t.after(() => rm(directory, { recursive: true }));
  const [opener, opened] = [join(directory, 'xdg-open'), join(directory, 'opened')];
  await writeFile(opener, `#!/bin/sh\necho "$1" > ${opened}.new && mv ${opened}.new ${opened}\n`);
  await chmod(opener, 0o755);
  const { PATH, DISPLAY } = process.env;
  t.after(() => {
    process.env.PATH = PATH;
    if (DISPLAY === undefined) delete process.env.DISPLAY;
    else process.env.DISPLAY = DISPLAY;
  });
  Object.assign(process.env, { PATH: `${directory}:${PATH}`, DISPLAY: ':0' });
  const [link] = (await open()).lines;
  const read = () => readFile(opened, 'utf8').catch(() => undefined);
  let text = await read();
  for (; text === undefined; text = await read()) await delay(20);
  assert.equal(text.trim(), link);
});
