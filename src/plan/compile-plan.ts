import type { ResolvedLocal, ResolvedReplay, ResolvedSpec } from '../schemas/spec.ts';
import { ESTIMATOR_FIELDS } from './estimator-fields.ts';
import { assignment, type PlanValue } from './overrides.ts';
import { compileVerlAgent, engineArguments } from './verl-agent/compile.ts';

/**
 * What a ray-worker runs: `python -m module arguments…`. `{attemptDir}`, `{experimentDir}` and `{sharedRoot}` in an
 * argument or a variable are replaced on the cluster. `files` are written into the attempt's directory.
 */
export interface LaunchPlan {
  engine: string;
  module: string;
  arguments: string[];
  environment: Record<string, string>;
  gpus: number;
  cpus: number;
  gracePeriodMs: number;
  files: Record<string, string>;
  /** Variables that get their values on the cluster, from the secrets of these names; absent: none. */
  secrets?: Record<string, string>;
}

/** Compiles a resolved spec into its launch plan. Pure; the same spec gives the same plan. */
export function compilePlan(spec: ResolvedSpec['spec']): LaunchPlan {
  return {
    engine: spec.engine,
    module: `echelon_rayworker.engines.${spec.engine.replaceAll('-', '_')}`,
    arguments: argumentsOf(spec),
    environment: {},
    gpus: spec.resources.gpus,
    cpus: spec.resources.cpus,
    gracePeriodMs: Math.round(spec.gracePeriodSeconds * 1000),
    files: {},
    // Absent in records of older versions.
    ...(Object.keys(spec.secrets ?? {}).length > 0 ? { secrets: spec.secrets } : {}),
  };
}

function argumentsOf(spec: ResolvedSpec['spec']): string[] {
  if (spec.engine === 'verl-agent') return engineArguments(spec, compileVerlAgent(spec));
  const values = spec.engine === 'local' ? localValues(spec) : replayValues(spec);
  return values.map(([key, value]) => assignment(key, value));
}

type Values = [key: string, value: PlanValue][];

function localValues(spec: ResolvedLocal): Values {
  const { estimator, environment, rollout, training, evaluation } = spec;
  return [
    ['estimator.name', estimator.name],
    ...ESTIMATOR_FIELDS[estimator.name].map((field): Values[number] => [
      `estimator.${snakeCase(field)}`,
      estimator[field]!,
    ]),
    ['environment.seed', environment.seed],
    ['environment.max_steps', environment.maxSteps],
    ['environment.history_length', environment.historyLength],
    ['rollout.groups', rollout.groups],
    ['rollout.group_size', rollout.groupSize],
    ['training.steps', training.steps],
    ['training.learning_rate', training.learningRate],
    ['training.epochs', training.epochs],
    ['training.clip_ratio', training.clipRatio],
    ['training.kl_coefficient', training.klCoefficient],
    ['training.seed', training.seed],
    ['training.evaluate_every', training.evaluateEvery],
    ['training.save_every', training.saveEvery],
    ['evaluation.games', evaluation.games],
    ['observations', spec.observations],
    ['step_delay_ms', Math.round(training.stepDelaySeconds * 1000)],
    ['experiment_dir', '{experimentDir}'],
  ];
}

function replayValues({ replay }: ResolvedReplay): Values {
  return [
    ['fault', replay.fault],
    ['batches', replay.batches],
    ['delay_ms', Math.round(replay.delaySeconds * 1000)],
    ['stop_after', replay.stopAfter],
    ['exit_code', replay.exitCode],
    ['log_lines', replay.logLines],
    ['hang', replay.hang],
    ['ignore_sigterm', replay.ignoreSigterm],
  ];
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
