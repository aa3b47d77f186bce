import type { Static, TObject, TSchema } from 'typebox';
import type { FieldProblem } from '../core/errors.ts';
import type { ResolvedRule } from '../schemas/rules.ts';
import type { commonFields } from '../schemas/spec-parts.ts';
import type { CheckpointStores } from './checkpoint-stores.ts';
import type { SecretProjects } from './secret-projects.ts';

/** The fields that a spec of every engine has. */
type CommonSpec = Static<TObject<typeof commonFields>> & { engine: string };

/** A type with every optional field present, at any depth. */
export type Complete<T> = T extends object ? { [K in keyof T]-?: Complete<NonNullable<T[K]>> } : T;

/** What ends an experiment from outside; null: nothing does. */
interface Limits {
  timeoutSeconds: number | null;
  /** In UTC with milliseconds, as `Date` writes it. */
  deadline: string | null;
}

/**
 * A spec with its defaults filled in. `cluster` is null if any cluster will do. `Own`: fields that the engine types
 * itself.
 */
export type Resolved<Spec, Own extends keyof Spec = never> = Omit<
  Complete<Spec>,
  Own | 'cluster' | 'rules' | keyof Limits
> & {
  cluster: string | null;
  rules: ResolvedRule[];
} & Limits;

/** What a caller may do beyond the ordinary. */
export interface Permissions {
  /** Whether a spec may name any code that is loaded on the cluster. Default: false. */
  customCode?: boolean;
  /** Directories of the cluster from which code may be loaded without that permission. Default: none. */
  codePaths?: readonly string[];
  /** Origins of the endpoints that a spec may let the cluster call without that permission. Default: none. */
  endpoints?: readonly string[];
  /** Which projects may use which secrets, for each cluster that may run the spec. Default: all of them every secret. */
  secretProjects?: readonly SecretProjects[];
  /** The object stores that projects may name, for each cluster that may run the spec. Default: any. */
  checkpointStores?: readonly CheckpointStores[];
  /** The fields of `runtimeEnv` that every cluster that may run the spec allows. Default: all. */
  runtimeEnv?: readonly string[];
}

/** A resolved spec, and the JSON pointers of the values that were not submitted. */
export interface CheckInput<Resolved> {
  spec: Resolved;
  defaults: readonly string[];
}

/**
 * A finding about a spec, made before a cluster is asked. An `error` certainly fails; a `warning` runs, with a result
 * that is hardly wanted; a `note` is good to know. `field` is a JSON pointer.
 */
export interface CheckFinding {
  check: string;
  severity: 'error' | 'warning' | 'note';
  field: string;
  /** The finding, in one sentence. */
  message: string;
  /** The remedy. */
  remedy: string;
}

/** A difference between a plan and the script that it is based on; null: the key was, or is, not passed. */
export interface Change {
  key: string;
  from: string | null;
  to: string | null;
}

/** A difference that the spec does not ask for, and why it is made. */
export interface Correction extends Change {
  reason: string;
}

/** How a plan differs from the script that it is based on. `details`: everything else that the engine knows of it. */
interface PlanNotes {
  changes: readonly Change[];
  corrections: readonly Correction[];
  details: Readonly<Record<string, unknown>>;
}

/**
 * What an engine adds to a launch plan. `{attemptDir}`, `{experimentDir}` and `{sharedRoot}` in an argument are replaced on the
 * cluster. `plan`: what its driver needs besides the spec; they are in one file.
 */
export interface CompiledSpec {
  arguments?: readonly string[];
  plan?: Readonly<Record<string, unknown>>;
  /** Where a training saves its checkpoints, with placeholders. Default: the experiment's directory. */
  checkpointDirectory?: string;
}

/** Settings that reduce a need for memory, as JSON pointers, the most helpful first. */
export interface MemorySettings {
  lower: readonly string[];
  /** Settings to switch, and to which value. */
  set?: { pointers: readonly string[]; to: boolean };
}

/** What a paper states, in per cent; undefined if it states nothing. */
export interface PaperFigures {
  inDomainSuccess?: number;
  outOfDomainSuccess?: number;
  webshopScore?: number;
  webshopSuccess?: number;
}

/** A training, the evaluations of its last checkpoint, and the figures that the paper states. */
export interface PresetRun<Spec = CommonSpec> {
  name: string;
  figures: PaperFigures;
  train: Spec;
  /** Each depends on the training. */
  evaluations: Spec[];
}

/** A sweep that reproduces a table of a paper. */
export interface Preset<Spec = CommonSpec> {
  name: string;
  title: string;
  /** What a reader must know to compare the results with the paper's figures. */
  notes: string[];
  runs: PresetRun<Spec>[];
}

/** Settings of a preset's submission, for every experiment of it. */
export interface PresetSettings {
  project?: string;
  cluster?: string;
  priority?: number;
  /** The trainer's checkout on the cluster. */
  home?: string;
  /** Separates the checkpoints from those of another submission. */
  label?: string;
}

/** An experiment of a preset. `phase`: `train`, or the kind of evaluation. */
export interface PresetExperiment<Spec = CommonSpec> {
  spec: Spec;
  phase: string;
  seed: number;
}

/** The presets of an engine. */
export interface Presets<Spec = CommonSpec> {
  readonly all: readonly Preset<Spec>[];
  /** The experiments of a run with these settings: the training first, then the evaluations of its last checkpoint. */
  experimentsOf(run: PresetRun<Spec>, settings: PresetSettings): PresetExperiment<Spec>[];
}

/** A script of the trainer. */
export interface RecipeSummary {
  name: string;
  modelSize: string;
  environment: string;
  phase: string;
  gpus: number;
  /** The Python module that the script starts. */
  program: string;
}

/** A recipe's command. `overrides`: its arguments, in order. */
interface RecipeCommand {
  program: string;
  overrides: string[];
  environment: Record<string, string>;
}

/** A spec that trains as a command line of the trainer does. */
export interface SpecOfCommand<Spec> {
  spec: Spec;
  /** The recipe from which the fewest settings differ. */
  recipe: string;
  /** How many settings the command line passes. */
  settings: number;
  /** Settings that the spec does not have, with the reason. */
  missing: { key: string; text: string; why: string }[];
}

/** The scripts of the trainer that an engine can run. */
export interface Recipes<Spec = CommonSpec> {
  readonly all: readonly RecipeSummary[];
  /** The command exactly as the script runs it. */
  faithful(name: string): RecipeCommand & {
    corrections: [];
    dataPreparation: { program: string; arguments: string[] };
  };
  /** The command as Echelon runs it. */
  corrected(name: string): RecipeCommand & { corrections: readonly Correction[]; checks: CheckFinding[] };
  /** The smallest spec of the recipe. */
  spec(name: string): Spec;
  /** Fields of the spec, as JSON pointers: the configuration keys that each sets, and its default (null: unset). */
  fields(name: string): { field: string; keys: string[]; value: unknown }[];
  /**
   * The spec for a command line, without the interpreter; undefined if it starts no training. A TypeError if no recipe has its
   * environment or estimator.
   */
  ofCommand(words: readonly string[]): SpecOfCommand<Spec> | undefined;
}

/** What a spec that reads a training's checkpoint shares with the training. */
export interface TrainedSettings {
  /** Below the cluster's checkpoint root. */
  directory: string;
  /** The trainer's checkout; null: the cluster's own. */
  home: string | null;
  env: Readonly<Record<string, string>>;
  model: { path: string; loraRank: number; loraAlpha: number };
  resources: { nodes: number; gpus: number };
  tensorParallelSize: number;
}

/** A checkpoint of a training that a spec named by its id. */
export type NamedCheckpoint = TrainedSettings & { step: number; cluster: string };

/**
 * Everything that the control plane knows of one engine. Every method is pure. An engine is added by one entry in
 * `registry.ts`, and by the package `echelon_rayworker.engines.<name>` that runs its plans.
 */
export interface Engine<Spec extends CommonSpec = CommonSpec, ResolvedSpec = Resolved<CommonSpec>> {
  /** Lower-case letters, digits and hyphens; the Python package has underscores for hyphens. */
  readonly name: Spec['engine'];
  /** One sentence for people. */
  readonly summary: string;
  /** The schema of a spec, with an `$id`. Every object is closed, every number and text is bounded. */
  readonly schema: TSchema & { $id?: string };
  /** A small spec that is accepted as it stands. */
  readonly example: Spec;
  /** Contradictions in a valid spec, before its defaults are known. */
  problems(spec: Spec): FieldProblem[];
  /**
   * Whether a valid spec loads code of the user's own on the cluster. Such a spec needs the scope `custom-code`, and its
   * experiment is marked.
   */
  customCode(spec: Spec): boolean;
  /** Fields of a valid spec that the caller lacks the permission for. Default: none. */
  permissionProblems?(spec: Spec, permissions: Permissions): FieldProblem[];
  /**
   * Fields of a valid or resolved spec that a cluster which may run it does not allow, whatever the scopes of the caller.
   * Default: none.
   */
  clusterProblems?(spec: Spec, permissions: Permissions): FieldProblem[];
  /** Fills in the defaults of a spec without contradictions; the common ones are in `common-defaults.ts`. */
  resolve(spec: Spec): ResolvedSpec;
  /** Default: nothing, for an engine whose driver needs only the resolved spec. */
  compile?(spec: ResolvedSpec): CompiledSpec;
  /** The kernel's fingerprint of the estimator whose batches are verified; null if the spec does not state it. */
  fingerprint(spec: ResolvedSpec): string | null;
  /** Findings about a resolved spec, errors first. A spec with an error is refused. */
  check?(input: CheckInput<ResolvedSpec>): CheckFinding[];
  /**
   * The settings of a training whose checkpoint other specs may name by the training's id, or the reason why there is none.
   * `path`: of its last checkpoint, as the driver reported it; empty if there is none. Default: no spec is such a training.
   */
  trained?(spec: ResolvedSpec, path: string): TrainedSettings | string;
  /**
   * For an engine whose specs read a checkpoint: the JSON pointer of the `CheckpointReference`, and the spec with the
   * checkpoint of a training that it named, or what is wrong. The spec may be incomplete: that of a sweep.
   */
  readonly reads?: {
    readonly pointer: string;
    complete(spec: Spec, training: NamedCheckpoint): Spec | FieldProblem;
  };
  /** How the plan differs from the script that it is based on. */
  notes?(spec: ResolvedSpec): PlanNotes;
  /** Settings besides `resources` that decide which nodes are large enough, as JSON pointers. */
  readonly sizeSettings?: readonly string[];
  /** Sweeps that reproduce tables of papers. */
  readonly presets?: Presets<Spec>;
  /** Scripts of the trainer. */
  readonly recipes?: Recipes<Spec>;
  /** Schemas that the document of the API has beside that of the spec, each with an `$id`. */
  readonly documentSchemas?: readonly TSchema[];
  /** Settings that help after an attempt ran out of memory. */
  readonly memory?: { gpu?: MemorySettings; host?: MemorySettings };
}
