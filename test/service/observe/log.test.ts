import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

const LOG = new URL('../../../src/observe/log.ts', import.meta.url).href;

function logged(code: string): string {
  const program = `import { createLog } from ${JSON.stringify(LOG)}; const log = createLog({ level: 'info', name: 'x' }); ${code}`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module-typescript', '-e', program], {
    encoding: 'utf8',
  });
  assert.equal(stdout, '');
  return stderr;
}

test('one JSON object a line, on standard error, from the level on', () => {
  const lines = logged(`log.debug('no'); log.info({ a: 1 }, 'yes'); log.warn('too')`)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.map(({ msg, name }) => [msg, name]),
    [
      ['yes', 'x'],
      ['too', 'x'],
    ],
  );
  assert.equal(lines[0].a, 1);
});

test('values under secret names are masked at every depth that we log', () => {
  const text = logged(
    `log.info({ token: 'canary1', cluster: { token: 'canary2', ca: 'canary3' }, request: { headers: { authorization: 'canary4', cookie: 'canary5' } } }, 'm')`,
  );
  assert.doesNotMatch(text, /canary/);
  assert.equal(text.match(/\[secret\]/g)?.length, 5);
});

test('every line is passed through `redact`, and stays JSON', () => {
  const text = logged(
    `const other = createLog({ level: 'info', name: 'x', redact: (line) => line.replaceAll('canary', '***') }); other.info({ err: new Error('a canary') }, 'm')`,
  );
  assert.doesNotMatch(text, /canary/);
  assert.match(JSON.parse(text).err.message, /a \*\*\*/);
});
