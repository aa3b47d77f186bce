import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { anchorOf, linkProblems } from '../../../scripts/check-links.ts';

test('an anchor of a heading has no punctuation and a hyphen for each space', () => {
  assert.equal(anchorOf('Other forms: `any` & "forms"'), 'other-forms-any--forms');
  assert.equal(anchorOf('The [Ray Client](ray.md)'), 'the-ray-client');
});

test('links to absent files and headings, links to files that are made, and pages without a link to them are named', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'echelon-links-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const page = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const start = page(
    'start.md',
    '[a](a.md#two-words) [b](a.md#three) [c](absent.md) [d](#own) [e](https://example.org) [f](gen/made.md)\n\n# Own\n',
  );
  const second = page('a.md', '# Two words\n\n```\n# Three\n[f](absent.md)\n```\n\n`[g](absent.md)`\n');
  const third = page('orphan.md', '[itself](orphan.md)\n');
  mkdirSync(join(folder, 'gen'));
  const made = page('gen/made.md', '[start](../start.md) [other](other.md)\n');
  const other = page('gen/other.md', '');
  assert.deepEqual(linkProblems([start, second, third, made, other], start), [
    `${start} links to ${second}#three, and the page has no such heading`,
    `${start} links to ${join(folder, 'absent.md')}, which does not exist`,
    `${start} links to ${made}, which is not in the repository`,
    `no page links to ${third}`,
  ]);
});
