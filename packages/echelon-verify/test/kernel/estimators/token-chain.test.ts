import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isAllowed } from '../../../src/kernel/estimators/parameters.ts';
import { maskedTokensRule, tokenStageInput, usesTokens } from '../../../src/kernel/estimators/token-chain.ts';

test('a rule for tokens outside the mask explains its choices, the first of which is the default', () => {
  const rule = maskedTokensRule('skip', 'zero');
  assert.equal(rule.default, 'skip');
  assert.ok(isAllowed(rule, 'zero') && !isAllowed(rule, 'reset'));
  assert.match(rule.doc, /`skip` ignores it, `zero` takes both as 0\.$/);
});

test('a chain over tokens counts each token once and has no reward functions', () => {
  const input = tokenStageInput({
    offset: Int32Array.of(0, 3),
    mask: new Uint8Array(3),
    group: Int32Array.of(7),
    column: (name) => name,
  });
  assert.deepEqual(
    [[...input.group], [...input.tokens()]],
    [
      [0, 0, 0],
      [1, 1, 1],
    ],
  );
  assert.equal(input.score(), 'reward');
  assert.throws(() => input.rewards(), /no reward functions/);
  assert.deepEqual(usesTokens('reward').tokens, ['reward']);
  assert.equal(usesTokens('reward').score, false);
});
