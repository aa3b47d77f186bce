import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { VERSION } from '../../../../src/cli/package-version.ts';
import { keptOutput, runProgram } from '../../../support/cli.ts';

test('version prints that of the package and of Node', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  assert.equal(VERSION, version);
  const node = process.versions.node;
  const [text, asJson] = [keptOutput(), keptOutput()];
  await runProgram(text, ['version']);
  assert.deepEqual(text.lines, [`echelon ${version} (Node ${node})`]);
  await runProgram(asJson, ['version', '--json']);
  assert.deepEqual(asJson.json(), { version, node });
});
