import { nearestName } from 'command-kit/nearest';
import { EchelonError } from '../../../core/errors.ts';
import type { Preset } from '../../../engines/engine.ts';
import { allPresets, type ExperimentSpec } from '../../../engines/registry.ts';
import { Text } from '../../../schemas/answer-parts.ts';
import { StrictObject } from '../../../schemas/objects.ts';
import type { App } from '../../server/deps.ts';
import { route } from '../../server/route.ts';

const PresetParams = StrictObject({ name: Text('Name of the preset.') });

/** GET /v1/presets and one of them. */
export function addPresets(app: App): void {
  route(app, {
    at: 'GET /v1/presets',
    operationId: 'listPresets',
    summary: "List presets, sweeps that reproduce the paper's tables",
    tag: 'recipes',
    answer: 'PresetList',
    handler: async () => ({ items: allPresets().map(summaryOf) }),
  });

  route(app, {
    at: 'GET /v1/presets/:name',
    operationId: 'getPreset',
    concurrency: 'digest',
    summary: "Get a preset: the spec of each run and the paper's figures",
    tag: 'recipes',
    params: PresetParams,
    answer: 'PresetDetail',
    problems: ['not-found'],
    handler: async (request) => {
      const preset = presetNamed(request.params.name);
      return { ...summaryOf(preset), notes: preset.notes, runs: preset.runs };
    },
  });
}

/** Throws EchelonError `not-found`, with the nearest name. */
export function presetNamed(name: string): Preset<ExperimentSpec> {
  const all = allPresets();
  const found = all.find((preset) => preset.name === name);
  if (found) return found;
  const names = all.map((preset) => preset.name);
  const near = nearestName(name.slice(0, 100), names);
  const hint = near === undefined ? `There are ${names.join(', ')}.` : `Did you mean ${near}?`;
  throw new EchelonError('not-found', `There is no preset of that name. ${hint}`);
}

function summaryOf({ name, title, runs }: Preset) {
  const evaluations = runs.reduce((sum, run) => sum + run.evaluations.length, 0);
  return { name, title, trainings: runs.length, evaluations };
}
