import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { explainToken } from '../../src/explain/explain-step.ts';
import { identifyStep } from '../../src/identify/steps/identify-step.ts';
import type { PolicyLoss } from '../../src/step/losses/loss.ts';
import { LOSSES } from '../../src/step/losses/registry.ts';
import { verifyStep } from '../../src/step/verify-step.ts';
import { PULL } from '../support/pull-loss.ts';
import { exampleBatch, readOne } from './sample-step.ts';

const REFERENCE = [-0.6, -1, -0.3, -1.5, -0.9];

/** A step whose loss has a pull, with the gradients of another strength of it. */
function stepOf(strength: number, change: (tokens: Record<string, unknown>) => void = () => {}) {
  const batch = exampleBatch();
  batch.step.policyLoss = { name: 'pull', pull: 0.5 };
  batch.step.reported = {};
  const { logProb, oldLogProb, reportedAdvantage } = batch.tokens as Record<string, number[]>;
  batch.tokens.referenceLogProb = REFERENCE;
  batch.tokens.lossGradient = logProb!.map((l, t) => {
    const gain = -reportedAdvantage![t]! * Math.exp(l - oldLogProb![t]!);
    return ((gain + strength * (l - REFERENCE[t]!)) * 2) / 5;
  });
  change(batch.tokens);
  return readOne(batch);
}

describe('a loss that is added', () => {
  const losses = LOSSES as PolicyLoss[];
  before(() => losses.push(PULL));
  after(() => {
    losses.splice(losses.indexOf(PULL), 1);
  });

  test('makes an honest step ok and one with another strength wrong', () => {
    assert.equal(verifyStep(stepOf(0.5)).ok, true);
    const { ok, wrongTokens } = verifyStep(stepOf(0.6));
    assert.deepEqual([ok, wrongTokens.length], [false, 5]);
  });

  test('is unverifiable without its column, and names it', () => {
    const { stages } = verifyStep(stepOf(0.5, (tokens) => delete tokens.referenceLogProb));
    const { lacks, wrong } = stages.find(({ stage }) => stage === 'gradient')!;
    assert.deepEqual([lacks, wrong], [['tokens.referenceLogProb'], 0]);
  });

  test('is explained and identified', () => {
    const { outcome, lines } = explainToken(stepOf(0.5), 0, 0);
    assert.equal(outcome, 'exact');
    assert.ok(Math.abs(lines.find(({ stage }) => stage === 'loss')!.value! - (-0.5 + 0.25 * 0.01)) < 1e-6);
    assert.equal(identifyStep(stepOf(0.5)).statedExplains, 5);
  });
});

test('the page on the verifier shows the example as it is', async () => {
  const root = new URL('../../', import.meta.url);
  const example = await readFile(new URL('test/support/pull-loss.ts', root), 'utf8');
  const page = await readFile(new URL('ARCHITECTURE.md', root), 'utf8');
  assert.ok(page.includes(example.slice(example.indexOf('export const PULL')).trimEnd()));
});
