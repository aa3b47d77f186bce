import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { freshAnswers, readRecording } from '../../support/recorded-answers.ts';

const { ids, answers } = readRecording();
const fresh = await freshAnswers({ after });
const names = Object.keys(ids) as (keyof typeof ids)[];

/** A request about the fresh scene. */
const freshened = (line: string) =>
  names.reduce((text, name) => text.replaceAll(ids[name], fresh.ids[name]), line);

/** An answer without values that differ from one run to the next: words stay, ids, texts and numbers become their type. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, own]) => [key, shapeOf(own)]));
  if (typeof value === 'string') return /^[a-z][a-z -]*$/.test(value) ? value : 'a text';
  return typeof value === 'number' ? 'a number' : value;
}

/** A request with the names of the scene in place of its ids. */
const named = (line: string) => names.reduce((text, name) => text.replaceAll(ids[name], name), line);

for (const [line, recorded] of Object.entries(answers))
  test(`the recorded answer to ${named(line)} has the shape of a fresh one`, async () => {
    const [method, url] = freshened(line).split(' ') as [string, string];
    const { status, body } = await fresh.answer(method, url);
    assert.equal(status, recorded.status);
    const remedy =
      'record anew: ECHELON_RECORD=1 node --test test/service/cli/commands/experiment-tables.test.ts';
    assert.deepEqual(shapeOf(recorded.body), shapeOf(body), remedy);
  });

test('there are recorded answers for the command line', () => {
  assert.ok(Object.keys(answers).length >= 10);
});
