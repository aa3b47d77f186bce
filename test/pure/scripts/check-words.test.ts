import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  BANNED,
  bannedIn,
  longDescriptionsIn,
  longSentencesIn,
  MAX_WORDS,
} from '../../../scripts/check-words.ts';

test('a planted banned word is found in a comment, a string, an identifier and a page', () => {
  for (const line of [
    '// nobody reads it',
    "const text = 'it goes on';",
    'const mendLines = 1;',
    'const MOST_ROWS = 4;',
  ])
    assert.equal(bannedIn('src/a.ts', `const a = 1;\n${line}`)[0]?.line, 2, line);
  assert.equal(bannedIn('docs/a.md', 'A promise of the store').length, 1);
});

test('a word that only prose must avoid is allowed in code', () => {
  assert.deepEqual(bannedIn('src/a.ts', 'a promise that resolves'), []);
});

test('a server behind a proxy is allowed, an event behind another is not', () => {
  assert.deepEqual(bannedIn('docs/a.md', 'The api runs behind a proxy.'), []);
  assert.equal(bannedIn('docs/a.md', 'The event comes behind 17.').length, 1);
});

test('no pattern matches its own replacement', () => {
  for (const { pattern, use } of BANNED.filter(({ use }) => !use.includes('or "')))
    assert.doesNotMatch(use, pattern);
});

const LONG = Array.from({ length: MAX_WORDS + 1 }, (_, at) => `word${at}`).join(' ');

test('a planted long sentence is found in a paragraph, a list and a table, but not in a code block', () => {
  const page = `# Title\n\n${LONG}.\n\n- ${LONG}\n\n| a | ${LONG} |\n\n\`\`\`\n${LONG}\n\`\`\`\n`;
  assert.deepEqual(
    longSentencesIn(page).map(({ line }) => line),
    [3, 5, 7],
  );
});

test('two sentences are counted apart', () => {
  const half = LONG.split(' ').slice(0, 20).join(' ');
  assert.deepEqual(longSentencesIn(`${half}. ${half}.`), []);
});

test('a planted long description of the API document is found with its line', () => {
  assert.equal(longDescriptionsIn(`{\n"description": ${JSON.stringify(LONG)}\n}`)[0]?.line, 2);
});
