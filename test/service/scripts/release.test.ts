import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { changelogProblems } from '../../../scripts/release/problems.ts';

const run = promisify(execFile);

test('a checkout without the tag of its version is no release', async () => {
  const to = join(tmpdir(), `no-release-${process.pid}`);
  const args = ['scripts/release.ts', '--to', to, '--key', '/dev/null'];
  await assert.rejects(run(process.execPath, args), (error: Error & { stderr: string }) =>
    /HEAD has no tag v\d/.test(error.stderr),
  );
});

test('a changelog must have a dated section of the version and nothing unreleased', () => {
  const log = (unreleased: string, heading: string) =>
    `# Changelog\n\n## [Unreleased]\n${unreleased}\n## ${heading}\n\n- a\n`;
  assert.deepEqual(changelogProblems(log('', '[1.2.0] - 2026-01-31'), '1.2.0'), []);
  assert.match(changelogProblems(log('', '[1.1.0] - 2026-01-31'), '1.2.0').join(), /no section \[1\.2\.0\]/);
  assert.match(changelogProblems(log('', '[1.2.0]'), '1.2.0').join(), /must have the date/);
  assert.match(
    changelogProblems(log('- b\n', '[1.2.0] - 2026-01-31'), '1.2.0').join(),
    /under \[Unreleased\]/,
  );
});
