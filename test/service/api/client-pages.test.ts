import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { apiFor } from '../../support/cli.ts';

const { connection } = await apiFor({ after });
const [, url, , token] = connection;

/** What the code of a page prints, run as one program against an API. */
async function printed(page: string, language: string, [program, ...options]: [string, ...string[]]) {
  const blocks = readFileSync(`docs/guides/${page}`, 'utf8').matchAll(
    new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'),
  );
  const code = [...blocks].map(([, block]) => block).join('\n');
  const env = { PATH: process.env.PATH, ECHELON_URL: url, ECHELON_TOKEN: token };
  const child = spawn(program, [...options, code], { env });
  const [out, err, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  assert.equal(status, 0, err);
  return out;
}

for (const [page, language, program] of [
  ['typescript.md', 'ts', [process.execPath, '--input-type=module-typescript', '-e']],
  ['python.md', 'python', [process.env.ECHELON_PYTHON ?? 'python3', '-c']],
] as const)
  test(`the code of ${page} submits, follows an experiment and a feed, and runs a sweep`, async () => {
    const out = await printed(page, language, program as unknown as [string, ...string[]]);
    assert.match(out, / state\n/);
    assert.match(out, /exp-\w+/);
    assert.match(out, /\n3\n$/);
  });
