import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { inForm, notInForm } from '../../../scripts/release/form.ts';

test('the tree is in one form, and the forms differ in all its files and lead back to each other', () => {
  const here = notInForm('clone').length === 0 ? 'clone' : 'published';
  assert.deepEqual(notInForm(here), []);
  const other = here === 'clone' ? 'published' : 'clone';
  const flipped = inForm(other);
  for (const [file, text] of flipped) assert.notEqual(text, readFileSync(file, 'utf8'), file);
  assert.deepEqual(
    inForm(here, (file) => flipped.get(file)!),
    inForm(here),
  );
});

test('a text in neither form is named', () => {
  assert.throws(() => inForm('clone', () => 'rewritten by hand'), /README\.md has neither form/);
});

/** Commands that fetch a package by its name from a registry. */
const FETCHED =
  /(?:npx (?:--yes |-y )?|uvx |pipx run (?:--\S+ )*|(?:pip|npm) install "?)(?:echelon-(?:verify|capture|client)|ray-client-ts)\b/;

test('until there is a release, no page, action or program fetches a package of this repository by its name', () => {
  if (notInForm('clone').length > 0) return;
  const files = globSync(
    '{README.md,deploy/**/*.{md,yml,mjs,py},docs/**/*.md,src/**/*.ts,packages/*/src/**/*.ts,.ci/run}',
  );
  assert.ok(files.length > 300);
  const named = files.filter((file) => {
    const lines = readFileSync(file, 'utf8').split('\n');
    return lines.some((line) => FETCHED.test(line) && !line.includes('--spec') && !line.includes('--from'));
  });
  assert.deepEqual(named, []);
});
