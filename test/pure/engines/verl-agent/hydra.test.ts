import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { hydraOverride, hydraText, readHydraText } from '../../../../src/engines/verl-agent/hydra.ts';

const text = fc.string({ unit: fc.constantFrom(...'ab1 =\'"\\{$}[](),:\n\t~+%#é;|'), maxLength: 12 });

describe('an override', () => {
  test('hydraOverride writes values as the scripts do', () => {
    assert.equal(hydraOverride('a.b', true), 'a.b=True');
    assert.equal(hydraOverride('a', 1e-7), 'a=1e-7');
    assert.equal(hydraOverride('a', 1e21), 'a=1e21');
    assert.equal(hydraOverride('+a', ['console', 'wandb']), '+a=[console,wandb]');
    assert.equal(hydraOverride('a', 'Qwen/Qwen2.5-7B'), 'a=Qwen/Qwen2.5-7B');
    assert.equal(hydraOverride('a', '{attemptDir}/x'), "a='{attemptDir}/x'");
  });

  test('hydraText quotes a text that Hydra would read as another type', () => {
    for (const value of ['null', 'True', 'inf', '12', '1e3', '', 'a b', 'a,b', 'x=y', '[a]', '{a:b}', '~a']) {
      assert.equal(hydraText(value), `'${value}'`);
    }
    assert.equal(hydraText("it's"), "'it\\'s'");
  });

  test('a value or key that quoting cannot protect is refused', () => {
    for (const value of [`\${x}`, 'a\\', 'a\nb', '\0', '\u2028', '\ud800']) {
      assert.throws(() => hydraText(value), TypeError, JSON.stringify(value));
    }
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY])
      assert.throws(() => hydraText(value), TypeError);
    for (const key of ['', 'a b', 'a=b', '~a', 'a..b', '++a', 'a.']) {
      assert.throws(() => hydraOverride(key, 1), TypeError);
    }
    assert.throws(() => hydraText(['a,b']), TypeError);
  });

  test('hydraText returns one bare word or one quoted text', () => {
    fc.assert(
      fc.property(text, (value) => {
        let written: string;
        try {
          written = hydraText(value);
        } catch {
          return;
        }
        assert.ok(!written.includes(`\${`) && !/[\n\t]/.test(written));
        const inner = /^'((?:[^'\\]|\\')*)'$/.exec(written)?.[1];
        if (inner === undefined) assert.match(written, /^[A-Za-z_][A-Za-z0-9_./:-]*$/);
        else assert.equal(inner.replaceAll("\\'", "'"), value);
      }),
      { numRuns: 2000 },
    );
  });
});

test('readHydraText reads the values of the scripts', () => {
  const cases: [string, unknown][] = [
    ['True', true],
    ['false', false],
    ['null', null],
    ['1e-6', 1e-6],
    ['1.0', 1],
    ['-1', -1],
    ['[console,wandb]', ['console', 'wandb']],
    ['vllm', 'vllm'],
    ['{seed}', '{seed}'],
  ];
  for (const [written, value] of cases) assert.deepEqual(readHydraText(written), value);
});
