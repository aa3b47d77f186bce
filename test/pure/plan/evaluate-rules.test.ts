import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ExperimentEvent, MetricValue } from '../../../src/core/events.ts';
import { emptyRuleMemory, evaluateRules, type Signal } from '../../../src/plan/evaluate-rules.ts';
import { resolveRules } from '../../../src/plan/rules.ts';
import type { RuleSpec } from '../../../src/schemas/rules.ts';

const MINUTE = 60_000;

function metrics(step: number, values: Record<string, MetricValue>, attempt = 1): Signal {
  return { attempt, at: step * 1000, event: { type: 'metrics', step, values } };
}

function report(batch: number, changes: object = {}, attempt = 1): Signal {
  const event = {
    type: 'verification',
    attempt,
    batch,
    step: batch,
    rows: 10,
    exact: 10,
    rounding: 0,
    wrong: 0,
    unverifiable: 0,
    errors: [],
    ok: true,
    ...changes,
  } as ExperimentEvent;
  return { attempt, at: batch * 1000, event };
}

function series(name: string, values: readonly MetricValue[]): Signal[] {
  return values.map((value, at) => metrics(at + 1, { [name]: value }));
}

function evaluate(rules: RuleSpec[], signals: Signal[], now = 0) {
  return evaluateRules(resolveRules(rules), { memory: emptyRuleMemory(), signals, now });
}

function firedAt(rules: RuleSpec[], signals: Signal[]): number[] {
  return evaluate(rules, signals).fired.map(({ step }) => step);
}

describe('conditions on metrics', () => {
  test('a rule with `above` and `for` fires after that many values in a row, and its evidence holds them', () => {
    const rule: RuleSpec = { name: 'kl', when: { metric: ['kl'], above: 0.1 }, for: 3 };
    const { fired } = evaluate([rule], series('kl', [0.2, 0.3, 0.05, 0.2, 0.2, 0.4, 0.5]));
    assert.equal(fired.length, 1);
    assert.equal(fired[0]?.step, 6);
    assert.deepEqual(
      fired[0]?.evidence.values.map(({ value }) => value),
      [0.2, 0.2, 0.4],
    );
    assert.equal(fired[0]?.reason, 'rule kl: kl was 0.4 at step 6 (kl above 0.1, 3 times in a row)');
  });

  test('an infinite value is above or below a threshold, and NaN is neither and interrupts a row', () => {
    const above: RuleSpec = { when: { metric: ['x'], above: 1 }, for: 2 };
    assert.deepEqual(firedAt([above], series('x', [2, 'NaN', 2, 'Infinity'])), [4]);
    assert.deepEqual(
      firedAt([{ when: { metric: ['x'], below: 0 } }], series('x', ['NaN', '-Infinity'])),
      [2],
    );
    assert.deepEqual(firedAt([{ when: { metric: ['x'], above: 1 } }], series('x', [1])), []);
  });

  test('`notFinite` counts the values of each metric separately', () => {
    const rule: RuleSpec = { when: { metric: ['a', 'b'], notFinite: true }, for: 2 };
    assert.deepEqual(
      firedAt([rule], [metrics(1, { a: 'NaN' }), metrics(2, { b: 'NaN' }), metrics(3, { a: 1 })]),
      [],
    );
    assert.deepEqual(firedAt([rule], [metrics(1, { b: 'NaN', a: 1 }), metrics(2, { b: 'Infinity' })]), [2]);
  });

  test('`plateau` counts the values since the last improvement', () => {
    const rule: RuleSpec = { when: { metric: ['s'], plateau: { window: 3, minDelta: 0.1 } } };
    assert.deepEqual(firedAt([rule], series('s', [0.1, 0.3, 0.35, 0.39, 0.5, 0.55, 0.1, 0.6])), [8]);
    const least: RuleSpec = { when: { metric: ['s'], plateau: { window: 2, minDelta: 0, goal: 'min' } } };
    assert.deepEqual(firedAt([least], series('s', [3, 2, 'NaN', 2.5])), [4]);
  });

  test('values up to the step `after` do not count', () => {
    const rule: RuleSpec = { when: { metric: ['x'], above: 0 }, after: 3, for: 2 };
    assert.deepEqual(firedAt([rule], series('x', [1, 1, 1, 1, 1])), [5]);
  });

  test('a metric named `__proto__` or `constructor` is evaluated like any other', () => {
    const names = ['__proto__', 'constructor'];
    const rule: RuleSpec = { name: 'constructor', when: { metric: names, above: 0 }, for: 2 };
    const values = JSON.parse('{"__proto__": 1, "constructor": -1}') as Record<string, MetricValue>;
    assert.deepEqual(firedAt([rule], [metrics(1, values), metrics(2, values)]), [2]);
    assert.equal(({} as { streak?: number }).streak, undefined);
  });

  test('a metric condition names the batch of its step, if the step has a batch', () => {
    const part = (batch: number, step: number): Signal => ({
      attempt: 1,
      at: 0,
      event: { type: 'batch', batch, step, index: 0, count: 1, rows: 1, digest: '', bytes: 1 },
    });
    const rule: RuleSpec = { when: { metric: ['x'], above: 0 } };
    assert.equal(evaluate([rule], [part(7, 3), metrics(3, { x: 1 })]).fired[0]?.batch, 7);
    assert.equal(evaluate([rule], [part(7, 3), metrics(4, { x: 1 })]).fired[0]?.batch, null);
  });
});

describe('conditions on verification', () => {
  test('a verification condition fires for wrong rows, shares of rows and error findings', () => {
    assert.deepEqual(firedAt([{ preset: 'wrong-rows' }], [report(1), report(2, { wrong: 3 })]), [2]);
    assert.deepEqual(
      firedAt([{ preset: 'rounding' }], [report(1, { rounding: 1 }), report(2, { rounding: 2 })]),
      [2],
    );
    assert.deepEqual(firedAt([{ preset: 'unverifiable' }], [report(1, { unverifiable: 1 })]), [1]);
    const signal: RuleSpec = { preset: 'wrong-signal' };
    const both = evaluate(
      [signal],
      [
        report(1, { errors: ['not-verifiable'] }),
        report(2, { wrong: 2, errors: ['wrong-rows', 'step-gap'] }),
      ],
    );
    assert.equal(
      both.fired[0]?.reason,
      'rule wrong-signal: signal was 2 wrong rows, step-gap at step 2, batch 2 (a wrong training signal)',
    );
    assert.deepEqual(firedAt([signal], [report(1), report(2, { errors: ['step-gap'] })]), [2]);
    const gaps: RuleSpec = { when: { errors: ['step-gap'] } };
    const found = (codes: string[]) => report(1, { errors: codes });
    assert.deepEqual(firedAt([gaps], [found(['group-size'])]), []);
    assert.equal(
      evaluate([gaps], [found(['group-size', 'step-gap'])]).fired[0]?.evidence.values[0]?.value,
      'step-gap',
    );
    assert.deepEqual(firedAt([{ preset: 'error-findings' }], [found([]), found(['group-size'])]), [1]);
  });

  test('coverage counts dropped rows as unverified', () => {
    const dropped: Signal = {
      attempt: 1,
      at: 0,
      event: { type: 'gap', kind: 'batch', step: 4, count: 1, bytes: 0, rows: 5, reason: 'full' },
    };
    const rule: RuleSpec = { when: { verification: 'coverage', below: 0.8 } };
    assert.deepEqual(firedAt([rule], [report(1), report(2), dropped]), []);
    assert.deepEqual(firedAt([rule], [report(1), dropped]), [4]);
  });

  test('coverage counts the rows of a batch once if its report is replaced', () => {
    const rule: RuleSpec = { when: { verification: 'coverage', below: 0.6 }, for: 2 };
    const condemned = report(2, { exact: 0, unverifiable: 10, errors: ['not-verifiable'], ok: false });
    const replaced = report(2, { replaces: true });
    assert.deepEqual(firedAt([rule], [report(1), condemned, replaced, report(3)]), []);
    const { memory } = evaluate([rule], [report(1), condemned, replaced]);
    assert.deepEqual([memory.attempts[1]?.seen, memory.attempts[1]?.verified], [20, 20]);
  });
});

describe('actions of rules', () => {
  test('a rule fires once in each attempt', () => {
    const rule: RuleSpec = { when: { metric: ['x'], above: 0 } };
    const { fired } = evaluate([rule], [...series('x', [1, 1]), metrics(1, { x: 1 }, 2)]);
    assert.deepEqual(
      fired.map(({ attempt, step }) => [attempt, step]),
      [
        [1, 1],
        [2, 1],
      ],
    );
  });

  test('`stop` requests a stop immediately, `stop-at-checkpoint` at the next checkpoint or after its limits', () => {
    const stop: RuleSpec = { name: 'r', when: { metric: ['x'], above: 0 }, do: 'stop' };
    assert.equal(evaluate([stop], series('x', [1])).stop?.rule, 'r');
    assert.equal(evaluate([{ ...stop, do: 'mark' }], series('x', [1])).stop, null);
    const later: RuleSpec = { ...stop, do: 'stop-at-checkpoint', within: { steps: 10, minutes: 2 } };
    const first = evaluate([later], series('x', [1, 1]), 5 * MINUTE);
    assert.equal(first.stop, null);
    assert.equal(first.due, 7 * MINUTE);
    const rules = resolveRules([later]);
    const go = (signals: Signal[], now = 6 * MINUTE) =>
      evaluateRules(rules, { memory: first.memory, signals, now }).stop?.reason ?? null;
    assert.equal(go(series('x', [1, 1, 1])), null);
    const checkpoint: Signal = { attempt: 1, at: 0, event: { type: 'checkpoint', step: 4, path: '/c' } };
    assert.match(
      go([checkpoint]) ?? '',
      /^rule r: x was 1 at step 1 .*; stopped at the checkpoint of step 4$/,
    );
    assert.match(go([metrics(11, { x: 1 })]) ?? '', /no checkpoint came in 10 steps$/);
    assert.match(go([], 7 * MINUTE) ?? '', /no checkpoint came in 2 minutes$/);
  });

  test('the rules fire the same, however the signals are divided into pages', () => {
    const rules = resolveRules([
      { name: 'a', when: { metric: ['x'], above: 0.5 }, for: 3 },
      { name: 'b', when: { metric: ['x'], plateau: { window: 4, minDelta: 0.2 } } },
      { name: 'c', when: { verification: 'wrongRows', above: 0 }, for: 2 },
    ]);
    let seed = 7;
    const random = () => {
      seed = (seed * 16807) % 2147483647;
      return seed / 2147483647;
    };
    const signals = Array.from({ length: 200 }, (_v, at) =>
      random() < 0.5
        ? metrics(at, { x: random() }, 1 + Math.floor(at / 50))
        : report(at + 1, { wrong: random() < 0.3 ? 1 : 0 }, 1 + Math.floor(at / 50)),
    );
    const whole = evaluateRules(rules, { memory: emptyRuleMemory(), signals, now: 0 });
    assert.ok(whole.fired.length > 3);
    let memory = emptyRuleMemory();
    const fired = [];
    for (let at = 0; at < signals.length; ) {
      const size = 1 + Math.floor(random() * 9);
      const page = evaluateRules(rules, { memory, signals: signals.slice(at, at + size), now: 0 });
      // The store returns the memory as JSON.
      memory = JSON.parse(JSON.stringify(page.memory));
      fired.push(...page.fired);
      at += size;
    }
    assert.deepEqual(fired, whole.fired);
    assert.ok(JSON.stringify(memory).length < 5_000);
    assert.equal(Object.keys(memory.attempts).length, 3);
  });
});
