import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Settings } from '../../src/dumps/config-yaml.ts';
import { evaluationFindings, evaluationPlan } from '../../src/dumps/evaluation.ts';
import type { TrainerState } from '../../src/dumps/trainer-state.ts';

const STATE: TrainerState = {
  step: 4,
  maxSteps: 8,
  evaluated: [3],
  rewards: [],
  sharesNames: false,
  logged: new Map(),
};

/** Of the steps 0 to 8: `e` evaluation rows, `?` possibly, `.` none. */
function shown(settings: Settings, state?: TrainerState, lastStep?: number): string {
  const plan = evaluationPlan(settings, state, lastStep);
  return Array.from({ length: 9 }, (_, step) => {
    const { unjudged, doubtful } = evaluationFindings(plan, step);
    return unjudged ? 'e' : doubtful ? '?' : '.';
  }).join('');
}

test('a run without evaluations has none', () => {
  assert.equal(evaluationPlan({ eval_strategy: 'no' }, undefined, 8), undefined);
  assert.equal(shown({}), '.........');
});

test('evaluations by steps have a first one, a last one, and a share of all steps is a number', () => {
  const steps = { eval_strategy: 'steps', eval_steps: 3, max_steps: 20 };
  assert.equal(shown(steps), '...e..e..');
  assert.equal(shown({ ...steps, eval_delay: 4 }), '......e..');
  assert.equal(shown({ ...steps, eval_on_start: true }), 'e..e..e..');
  assert.equal(shown({ ...steps, eval_steps: undefined, logging_steps: 4 }), '....e...e');
  assert.equal(shown({ ...steps, max_steps: -1 }, undefined, 7), '...e..e?.');
  assert.equal(shown({ ...steps, eval_steps: 0.25 }), '.....e...');
  assert.equal(shown({ ...steps, eval_steps: 0.25, max_steps: -1 }), '?????????');
});

test('what the trainer recorded counts up to its step, the settings after it', () => {
  const steps = { eval_strategy: 'steps', eval_steps: 2, max_steps: 20 };
  assert.equal(shown(steps, STATE), '...e..e.e');
  assert.equal(shown({ eval_strategy: 'epoch' }, STATE), '...e.????');
  assert.equal(shown({ eval_strategy: 'no' }, STATE), '...e.....');
  assert.equal(shown({ num_generations_eval: 2 }), '?????????');
});

test('an evaluation stays in the file until the next generation for training', () => {
  const steps = { eval_strategy: 'steps', eval_steps: 3, max_steps: 20 };
  assert.equal(shown({ ...steps, num_iterations: 2 }), '...ee.e..');
  assert.equal(shown({ ...steps, num_iterations: 4 }), '...ee.eee');
  const generation = { gradient_accumulation_steps: 2, steps_per_generation: 8 };
  assert.equal(shown({ ...steps, ...generation }), '...ee.eee');
});
