import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

/** The pages for one reader each. */
const PAGES = ['trl', 'verl', 'one-box', 'slurm'];
const MAX_WORDS = 400;

test('the pages for one reader have at most 400 words, and the first screen of the README leads to each', () => {
  const readme = readFileSync('README.md', 'utf8');
  const first = readme.slice(0, readme.indexOf('\n## '));
  for (const page of PAGES) {
    const file = `docs/getting-started/${page}.md`;
    const text = readFileSync(file, 'utf8');
    assert.match(text, /^# I have /);
    const words = text.split(/\s+/).filter(Boolean).length;
    assert.ok(words <= MAX_WORDS, `${file}: ${words} words`);
    assert.ok(first.includes(`](${file})`), file);
  }
});
