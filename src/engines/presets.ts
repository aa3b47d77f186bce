import type { Preset, PresetExperiment, PresetRun, PresetSettings } from './engine.ts';
import { allEngines, type ExperimentSpec } from './registry.ts';

/** The presets of all engines. */
export function allPresets(): Preset<ExperimentSpec>[] {
  return allEngines().flatMap(({ presets }) => presets?.all ?? []);
}

/** The experiments of a preset's run, by its engine. See `Presets.experimentsOf`. */
export function experimentsOf(
  preset: Preset<ExperimentSpec>,
  run: PresetRun<ExperimentSpec>,
  settings: PresetSettings,
): PresetExperiment<ExperimentSpec>[] {
  const engine = allEngines().find(({ presets }) => presets?.all.includes(preset));
  if (engine === undefined) throw new Error(`no engine has the preset ${preset.name}`);
  return engine.presets!.experimentsOf(run, settings);
}
