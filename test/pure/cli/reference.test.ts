import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cliMarkdown } from '../../../src/cli/reference.ts';

const page = await cliMarkdown();

test('the reference lists arguments, options with defaults, and examples of a command', () => {
  const start = page.indexOf('### echelon metrics ID [NAMES…]');
  const section = page.slice(start, page.indexOf('###', start + 3));
  assert.ok(start > 0);
  assert.match(section, /\| `ID` \| experiment: id, unique prefix/);
  assert.match(section, /\| `--resolution <points>` \| maximum number of points per metric \| `20` \|/);
  assert.match(section, /```sh\nechelon metrics exp-/);
  assert.doesNotMatch(section, /--url/);
});

test('the reference has a section per command within a group, and describes the verbs on experiments once', () => {
  for (const one of ['clusters add NAME ADDRESS', 'keys delete ID', 'config use NAME'])
    assert.ok(page.includes(`### echelon ${one}\n`), one);
  assert.equal(page.match(/^### echelon .*submit FILE$/gm)?.length, 2);
});
