import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compileVerlAgent } from '../../../src/engines/verl-agent/compile.ts';
import { verlAgentPresets } from '../../../src/engines/verl-agent/presets.ts';
import { resolveVerlAgent } from '../../../src/engines/verl-agent/resolve.ts';
import type { VerlAgentSpec } from '../../../src/engines/verl-agent/spec.ts';
import { childReference, draftChain, draftPreset, referenceMetrics } from '../../../src/plan/preset-sweep.ts';
import { resolveSpec } from '../../../src/plan/resolve-spec.ts';
import { childSpec, childValues } from '../../../src/plan/sweep.ts';

const specOf = (draft: ReturnType<typeof draftPreset>, index: number) =>
  childSpec(draft, draft.entries[index]!) as unknown as VerlAgentSpec;

describe('a preset as a sweep', () => {
  test('an evaluation of a preset uses the last checkpoint of its own training, with the same label, project and home', () => {
    for (const preset of verlAgentPresets()) {
      const draft = draftPreset(preset, { label: 'mine', project: 'p', home: '/opt/v' });
      for (const [index, after] of Object.entries(draft.after)) {
        const [evaluation, training] = [specOf(draft, Number(index)), specOf(draft, after)];
        const plan = compileVerlAgent(resolveVerlAgent(training));
        const { directory, step } = evaluation.evaluation!.checkpoint!;
        assert.deepEqual([directory, step], [plan.checkpointDirectory, plan.steps]);
        assert.match(directory!, /-mine$/);
        assert.deepEqual([evaluation.project, evaluation.home], ['p', '/opt/v']);
        resolveSpec(evaluation, { customCode: true });
      }
    }
  });

  test('the trainings of a preset come first, and each child has a distinct run, phase and seed', () => {
    const draft = draftPreset(verlAgentPresets()[0]!);
    const waiting = draft.entries.map((_entry, index) => index in draft.after);
    assert.deepEqual(waiting, waiting.toSorted());
    const places = draft.entries.map((entry) => JSON.stringify(childValues(draft.axes, entry)));
    assert.equal(new Set(places).size, places.length);
  });

  test('the published figures of a preset are shares between 0 and 1', () => {
    const draft = draftPreset(verlAgentPresets()[0]!, { runs: ['HGPO K=4 1.5b alfworld'] });
    const found = draft.entries.map(
      (entry) => childReference(draft.spec, entry)?.['val/success_rate'] ?? null,
    );
    assert.deepEqual(found, [null, 0.9485, 0.9485, 0.9485, 0.9212, 0.9212, 0.9212]);
    assert.deepEqual(referenceMetrics(draft.spec), ['val/success_rate']);
    assert.deepEqual(referenceMetrics({ engine: 'replay' }), []);
  });
});

test('in a chain, children that wait come last and still wait for the same child', () => {
  const child = (name: string, after?: number) => ({
    spec: { engine: 'replay', name } as const,
    place: { run: name, phase: 'train', seed: 0 },
    ...(after !== undefined && { after }),
  });
  const draft = draftChain('c', [child('a'), child('b', 0), child('c'), child('d', 2)]);
  const names = draft.entries.map((entry) => childSpec(draft, entry).name);
  assert.deepEqual([names, draft.after], [['a', 'c', 'b', 'd'], { 2: 0, 3: 1 }]);
});
