import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Preset } from '../../../src/engines/engine.ts';
import { allPresets, type ExperimentSpec, experimentsOf } from '../../../src/engines/registry.ts';
import { addEngine } from '../../support/add-engine.ts';
import { COUNTDOWN } from '../../support/countdown/engine.ts';

test('the presets of a registered engine are listed, and the engine makes their experiments', () => {
  const train = COUNTDOWN.example;
  const preset = {
    name: 'p',
    title: '',
    notes: [],
    runs: [{ name: 'r', figures: {}, train, evaluations: [] }],
  };
  after(
    addEngine({
      ...COUNTDOWN,
      presets: {
        all: [preset],
        experimentsOf: (run, settings) => [{ spec: { ...run.train, ...settings }, phase: 'train', seed: 7 }],
      },
    }),
  );
  const listed = allPresets().find(({ name }) => name === 'p')!;
  assert.deepEqual(experimentsOf(listed, listed.runs[0]!, { cluster: 'c' }), [
    { spec: { ...train, cluster: 'c' }, phase: 'train', seed: 7 },
  ]);
});

test('experimentsOf throws for a preset that no engine has', () => {
  const unknown = { ...allPresets()[0]! } as Preset<ExperimentSpec>;
  assert.throws(() => experimentsOf(unknown, unknown.runs[0]!, {}), /no engine has the preset/);
});
