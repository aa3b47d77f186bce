/**
 * At which steps the file of a trainer of the transformers family holds evaluation rows. Training and evaluation fill one
 * buffer, which is written at each log: an evaluation stays in it until the next generation for training.
 */

import { present } from '../base/present.ts';
import { finding } from '../report/findings.ts';
import type { Finding } from '../report/report.ts';
import type { Settings } from './config-yaml.ts';
import type { TrainerState } from './trainer-state.ts';

/** What is known of the evaluations of a run. */
export interface EvaluationPlan {
  /** Steps that the trainer recorded an evaluation for, of those up to `recordedUntil`. */
  readonly recorded: readonly number[];
  readonly recordedUntil: number;
  /** Evaluates at each multiple, from `delay` on. */
  readonly every?: number;
  readonly delay: number;
  readonly atStart: boolean;
  /** The last step of the run, at which some versions evaluate as well. */
  readonly last?: number;
  /** The setting that says that there are evaluations, if nothing says at which steps. */
  readonly unknown?: string;
  /** Micro-batches between two generations, and in one step. */
  readonly generation: number;
  readonly accumulation: number;
  /** Steps between two logs of the training, if there is a fixed number. */
  readonly logging?: number;
}

/**
 * The plan that settings and the record of the trainer give; undefined if the run does not evaluate. `lastStep` is the last
 * one that was written.
 */
export function evaluationPlan(
  settings: Settings,
  state: TrainerState | undefined,
  lastStep: number | undefined,
): EvaluationPlan | undefined {
  const { eval_strategy: strategy = 'no', eval_delay: delay, eval_on_start: atStart } = settings;
  const every = strategy === 'steps' ? everyOf(settings, state) : undefined;
  const recorded = state?.evaluated ?? [];
  const unknown = unknownOf(settings, strategy === 'steps' && every === undefined);
  if (strategy === 'no' && atStart !== true && recorded.length === 0 && unknown === undefined)
    return undefined;
  const last =
    strategy === 'steps' ? (countOf(settings.max_steps) ?? state?.maxSteps ?? lastStep) : undefined;
  const accumulation = countOf(settings.gradient_accumulation_steps) ?? 1;
  const perGeneration = countOf(settings.steps_per_generation) ?? accumulation;
  return {
    recorded,
    recordedUntil: state?.step ?? -1,
    ...(every === undefined ? {} : { every }),
    delay: typeof delay === 'number' ? delay : 0,
    atStart: atStart === true,
    ...(last === undefined ? {} : { last }),
    ...(unknown === undefined ? {} : { unknown }),
    generation: perGeneration * (countOf(settings.num_iterations) ?? 1),
    accumulation,
    ...present({ logging: countOf(settings.logging_steps) }),
  };
}

/** Steps between evaluations. Below 1 it is a share of all steps of the run. */
function everyOf(settings: Settings, state: TrainerState | undefined): number | undefined {
  const every = settings.eval_steps ?? settings.logging_steps;
  if (typeof every !== 'number' || every <= 0) return undefined;
  if (every >= 1) return every;
  const all = countOf(settings.max_steps) ?? state?.maxSteps;
  return all === undefined ? undefined : Math.ceil(every * all);
}

/** With a strategy of none, a size of evaluation groups tells that evaluations are called by hand. */
function unknownOf(
  { eval_strategy: strategy, eval_steps: every, num_generations_eval: size }: Settings,
  isShare: boolean,
): string | undefined {
  if (isShare) return `eval_steps=${String(every)}`;
  if (strategy === 'epoch') return 'eval_strategy=epoch';
  return (strategy ?? 'no') === 'no' && countOf(size) !== undefined
    ? `num_generations_eval=${size}`
    : undefined;
}

/** The step whose evaluation is in the file of `step`; undefined if none is known to be. */
function evaluatedIn(plan: EvaluationPlan, step: number, isBefore: boolean): number | undefined {
  const { generation, accumulation } = plan;
  const oldest = step - Math.ceil(generation / accumulation);
  for (let at = step; at >= Math.max(0, oldest); at--) {
    // The generations of training after it, up to this step, push all of its rows out.
    const next = Math.ceil((at * accumulation) / generation) * generation;
    if (at < step && next < step * accumulation) return undefined;
    if (isEvaluated(plan, at) && !(at === step && isBefore && isLogged(plan, step))) return at;
  }
  return undefined;
}

/**
 * What is said of a step that holds evaluation rows, or may hold them. `isBefore`: the rows were written before an
 * evaluation at the same step would be.
 */
export function evaluationFindings(
  plan: EvaluationPlan | undefined,
  step: number,
  isBefore = false,
): { readonly unjudged?: Finding; readonly doubtful?: Finding } {
  if (plan === undefined || !(step >= 0)) return {};
  const at = evaluatedIn(plan, step, isBefore);
  if (at !== undefined) {
    const since = at === step ? '' : ', and has not generated for the training since';
    return { unjudged: finding('evaluation-rows', `The trainer evaluated at step ${at}${since}.`) };
  }
  const setting = mayBeEvaluated(plan, step);
  if (setting === undefined) return {};
  const text = `The rows do not fit the training. By ${setting} the trainer can have evaluated here, and nothing records it.`;
  return { doubtful: finding('evaluation-rows', text) };
}

/** The setting by which a step may hold evaluation rows, if nothing tells whether it does. */
function mayBeEvaluated({ unknown, recordedUntil, last }: EvaluationPlan, step: number): string | undefined {
  if (step <= recordedUntil) return undefined;
  return step === last ? 'the end of the training' : unknown;
}

/** True if the training writes at the step as well. */
function isLogged({ logging }: EvaluationPlan, step: number): boolean {
  return logging !== undefined && step % logging === 0;
}

function isEvaluated(plan: EvaluationPlan, step: number): boolean {
  if (step === 0) return plan.atStart;
  if (step <= plan.recordedUntil) return plan.recorded.includes(step);
  return plan.every !== undefined && step % plan.every === 0 && step >= plan.delay;
}

function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : undefined;
}
