import { nearestName } from 'command-kit/nearest';
import { EchelonError, type FieldProblem } from '../core/errors.ts';
import { clip } from '../schemas/json.ts';
import { checkpointStoreProblems } from './checkpoint-stores.ts';
import { COMMAND } from './command/engine.ts';
import type {
  Engine,
  Permissions,
  Preset,
  PresetExperiment,
  PresetRun,
  PresetSettings,
  RecipeSummary,
  Recipes,
  SpecOfCommand,
} from './engine.ts';
import { EXTERNAL_ENGINE } from './external-run.ts';
import { LOCAL } from './local/engine.ts';
import { PROMPT } from './prompt/engine.ts';
import { REPLAY } from './replay/engine.ts';
import { secretProjectProblems } from './secret-projects.ts';
import { variablePermissionProblems } from './variables.ts';
import { VERL_AGENT } from './verl-agent/engine.ts';
import { VERL_AGENT_EXPORT } from './verl-agent-export/engine.ts';

/** The engines of this version, in the order of documentation. Nothing else lists them. */
const ENGINES = [LOCAL, PROMPT, REPLAY, VERL_AGENT, VERL_AGENT_EXPORT, COMMAND] as const;

type AnyEngine = (typeof ENGINES)[number];

/** What a person submits; the engine decides which fields there are. */
export type ExperimentSpec = AnyEngine['example'];

/** A spec with its defaults filled in. `defaults` lists the JSON pointers of the values that were not submitted. */
export interface ResolvedSpec {
  spec: ReturnType<AnyEngine['resolve']>;
  defaults: string[];
}

/** An engine, whichever it is: it takes the specs that name it. */
export type RegisteredEngine = Engine<ExperimentSpec, ResolvedSpec['spec']>;

const registered: readonly RegisteredEngine[] = [...ENGINES];

/** All engines. */
export function allEngines(): readonly RegisteredEngine[] {
  return registered;
}

/** The engine of that name; undefined if there is none. */
export function findEngine(name: unknown): RegisteredEngine | undefined {
  return registered.find((engine) => engine.name === name);
}

/** The engine of that name. Throws EchelonError `invalid-spec`, which lists the known engines. */
export function engineOf(name: string): RegisteredEngine {
  const found = findEngine(name);
  if (found !== undefined) return found;
  const problem = engineProblem(name);
  throw new EchelonError('invalid-spec', `The spec's engine ${problem.message}.`, { problems: [problem] });
}

/** See {@link Engine.fingerprint}. */
export function fingerprintOf(spec: ResolvedSpec['spec']): string | null {
  return engineOf(spec.engine).fingerprint(spec);
}

/** Whether a valid spec loads code of the user's own, by its engine's fields or by an environment variable. */
export function customCodeOf(spec: ExperimentSpec): boolean {
  const variables = variablePermissionProblems(spec.env, { codePaths: ['/'] });
  return variables.length > 0 || engineOf(spec.engine).customCode(spec);
}

/** What a caller with these permissions may not ask for in a valid spec; empty if the caller may submit the spec. */
export function permissionProblems(spec: ExperimentSpec, permissions: Permissions): FieldProblem[] {
  const problems = [
    ...(engineOf(spec.engine).permissionProblems?.(spec, permissions) ?? []),
    ...variablePermissionProblems(spec.env, permissions),
  ];
  if (problems.length > 0 || permissions.customCode || !customCodeOf(spec)) return problems;
  return [
    { field: '/engine', message: 'would load your own code: that needs a key with the scope custom-code' },
  ];
}

/**
 * What the clusters that may run a valid or resolved spec do not allow it, whatever the scopes of its sender: secrets,
 * object stores, runtime environments. It is asked at the submission, at a re-run and at the launch, because an operator
 * may withdraw each in between.
 */
export function clusterProblems(
  spec: ExperimentSpec | ResolvedSpec['spec'],
  permissions: Permissions,
): FieldProblem[] {
  return [
    ...(findEngine(spec.engine)?.clusterProblems?.(spec as ExperimentSpec, permissions) ?? []),
    ...secretProjectProblems(spec, permissions.secretProjects ?? []),
    ...checkpointStoreProblems(spec, permissions.checkpointStores ?? []),
  ];
}

/** The problem of a spec whose engine is not known, with the known engines and the nearest name. */
export function engineProblem(name: unknown): FieldProblem {
  if (name === EXTERNAL_ENGINE) {
    return {
      field: '/engine',
      message: 'is for runs that Echelon does not start; open one with POST /v1/runs',
    };
  }
  const names = registered.map((engine) => engine.name);
  const list = names.join(' or ');
  if (name === undefined) return { field: '/engine', message: `is missing; it must be ${list}` };
  const near = typeof name === 'string' ? nearestName(name, names) : undefined;
  const hint = near === undefined ? '' : `; did you mean ${near}?`;
  return { field: '/engine', message: `must be ${list}, but ${shortened(name)} came${hint}` };
}

function shortened(engine: unknown): string {
  if (typeof engine === 'object' && engine !== null) return Array.isArray(engine) ? 'an array' : 'an object';
  return clip(JSON.stringify(typeof engine === 'string' ? engine.slice(0, 200) : engine));
}

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

/** The recipes of all engines. */
export function allRecipes(): RecipeSummary[] {
  return allEngines().flatMap(({ recipes }) => recipes?.all ?? []);
}

/** See {@link Recipes.ofCommand}. */
export function specOfCommand(words: readonly string[]): SpecOfCommand<ExperimentSpec> | undefined {
  return allEngines()
    .map(({ recipes }) => recipes?.ofCommand(words))
    .find((found) => found !== undefined);
}

/** The recipes that the recipe of this name belongs to; undefined if no engine has it. */
export function recipesWith(name: string): Recipes<ExperimentSpec> | undefined {
  return allEngines()
    .map(({ recipes }) => recipes)
    .find((recipes) => recipes?.all.some((recipe) => recipe.name === name));
}
