import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explainToken } from '../../src/step/explain-step.ts';
import { formatIdentification, formatToken } from '../../src/step/explain-text.ts';
import { identifyStep } from '../../src/step/identify/identify-step.ts';
import { exampleBatch, readOne } from './sample-step.ts';
import { simulated } from './simulate-step.ts';

test('the chain of a right token lists every stage without a break', () => {
  const explanation = explainToken(readOne(exampleBatch()), 0, 1);
  assert.deepEqual([explanation.outcome, explanation.breaks], ['exact', null]);
  const text = formatToken(explanation);
  for (const title of ['log-prob', 'ratio', 'policy loss', 'divisor', 'gradient'])
    assert.match(text, new RegExp(`^  ${title} `, 'm'));
  assert.match(text, /clipped above 1, advantage > 0/);
});

test('the chain of a token without a KL gradient breaks at the gradient and names the cause', () => {
  const batch = exampleBatch();
  batch.step.kl = { estimator: 'k3', coefficient: 0.1 };
  batch.tokens.referenceLogProb = [-0.6, -1.6, -0.3, -1.5, -0.9];
  const explanation = explainToken(readOne(batch), 0, 1);
  assert.equal(explanation.breaks, 'gradient');
  assert.equal(explanation.causes[0], 'the KL term has no gradient');
});

test('the first stage that breaks is named, not the last', () => {
  const batch = exampleBatch();
  batch.tokens.reportedRatio = [1, 1.1, 1, 1, 1];
  batch.tokens.lossGradient = [-0.2, -0.22, -0.2, 0.2, 0.2];
  assert.equal(explainToken(readOne(batch), 0, 1).breaks, 'ratio');
});

test('a token outside the mask is explained as one without a gradient', () => {
  const batch = exampleBatch();
  batch.tokens.mask = [0, 1, 1, 1, 1];
  const explanation = explainToken(readOne(batch), 0, 0);
  assert.deepEqual([explanation.outcome, explanation.breaks], ['wrong', 'mask']);
});

test('a token that is not there is refused with its place', () => {
  assert.throws(() => explainToken(readOne(exampleBatch()), 1, 2), /no token 2 of row 1/);
});

test('identify of a right step says that the stated arithmetic explains it', () => {
  const found = identifyStep(readOne(exampleBatch()));
  assert.deepEqual([found.statedExplains, found.explanations, found.clues], [5, [], []]);
  assert.match(formatIdentification(found), /explains all 5 gradient coefficients/);
});

test('identify lists arithmetics that fit equally, and how to separate them', () => {
  const batch = simulated({ faults: { logRatio: () => 0 } });
  const { explanations, separate } = identifyStep(batch);
  assert.ok(explanations.length >= 2);
  assert.match(separate!, /Capture a step with/);
});

test('identify of a step without gradients names the column', () => {
  const batch = exampleBatch();
  delete batch.tokens.lossGradient;
  assert.deepEqual(identifyStep(readOne(batch)).lacks, ['tokens.lossGradient']);
});
