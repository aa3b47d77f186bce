import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { DEFAULT_LIMITS } from '../../../src/http/server/deps.ts';
import { cpuTimeOf } from '../../support/cpu-time.ts';
import { hostileTexts, PIECES } from '../../support/hostile-bodies.ts';

// A text of a request may be as long as its body, and a regular expression that backtracks over it stops
// the process for all callers. So each expression that reads requests must be linear, and this test measures it.

const BUDGET_MS = 50;
const QUICK_MS = 0.5;

/** The CPU time in ms for one text; the least of three, because garbage collection may add to it. */
async function leastCost(expression: RegExp, piece: string, size: number, enough: number): Promise<number> {
  const [text] = hostileTexts(size, [piece]) as [string];
  let least = Number.POSITIVE_INFINITY;
  for (let turn = 0; turn < 3 && least > enough; turn++)
    least = Math.min(least, await cpuTimeOf(async () => text.replace(expression, '')));
  return least;
}

/** A literal of a regular expression in the source: after an operator, a bracket or a comma. */
const LITERAL =
  /(?:[=(,:?&|![]|return|=>)\s*\/(?![*/])((?:[^\\/\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([dgimsuvy]*)[\s,.;)\]}]/g;
/** A regular expression written as a string: in a schema, or for `new RegExp`. */
const PATTERN = /'(\^(?:[^'\\]|\\.)*\$)'/g;

function expressionsOf(file: string): RegExp[] {
  const text = readFileSync(file, 'utf8').replaceAll(/^\s*(?:\*|\/[/*]).*$/gm, '');
  return [
    ...text.matchAll(LITERAL).map(([, source, flags]) => new RegExp(source!, flags!.replaceAll(/[gy]/g, ''))),
    ...text
      .matchAll(PATTERN)
      .map(([, source]) => new RegExp(JSON.parse(`"${source!.replaceAll('"', '\\"')}"`), 'u')),
  ];
}

const expressions = globSync('src/{core,schemas,engines,plan,http}/**/*.ts').flatMap((file) =>
  expressionsOf(file).map((expression) => ({ file, expression })),
);

/** The words that an expression looks for. */
function wordsIn({ source }: RegExp): string[] {
  const words = source.replaceAll(/\\[a-zA-Z]|\\/g, ' ').match(/[A-Za-z0-9_~:/=-]{2,40}/g) ?? [];
  return [...new Set(words)].slice(0, 12);
}

test('the search finds the regular expressions of the source', () => {
  assert.ok(expressions.length > 100, String(expressions.length));
  assert.ok(expressions.some(({ expression }) => expression.source.includes('PRIVATE KEY')));
  assert.ok(expressions.some(({ expression }) => expression.source.startsWith('^[a-z0-9]([a-z0-9-]{0,61}')));
});

test('every regular expression stays within its budget for a text of the largest body', async () => {
  const slow: string[] = [];
  for (const { file, expression } of expressions) {
    const every = new RegExp(expression.source, `${expression.flags}g`);
    for (const piece of [...PIECES, ...wordsIn(expression)]) {
      // An expression that is fast for an eighth is within its budget for the whole, even if its time is quadratic.
      if ((await leastCost(every, piece, DEFAULT_LIMITS.bodyBytes / 8, QUICK_MS)) <= QUICK_MS) continue;
      const ms = await leastCost(every, piece, DEFAULT_LIMITS.bodyBytes, BUDGET_MS);
      if (ms > BUDGET_MS) slow.push(`${file}: ${expression} took ${ms.toFixed()} ms for ${piece}…`);
      if (ms > BUDGET_MS) break;
    }
  }
  assert.deepEqual(slow, []);
});
