import { parseReference } from './code.ts';
import { RayGeneratorError } from './errors.ts';
import { PyGlobal } from './pickle/values.ts';
import { writePickle } from './pickle/writer.ts';
import { encodeStrategy, type SchedulingStrategy } from './scheduling.ts';
import type { NumReturns } from './signatures.ts';

/** A runtime environment as Ray's servers take it: `working_dir` and `py_modules` are URIs, never local paths. */
export type RuntimeEnv = Readonly<Record<string, unknown>>;

/** Which exceptions Ray repeats a call for. */
export interface RetryExceptions {
  /**
   * Whether an exception that the code raises counts as a failure that is repeated: any, or those of these classes,
   * written `module:Class`. Default: false, only the death of the process counts.
   */
  readonly retryExceptions?: boolean | readonly string[];
}

/** What a task or an actor asks of the cluster. An omitted option has Ray's default. */
export interface ResourceOptions {
  /** CPUs, also fractions. */
  readonly numCpus?: number;
  /** GPUs, also fractions. */
  readonly numGpus?: number;
  /** Bytes of memory. */
  readonly memoryBytes?: number;
  /** Custom resources by name. CPU and GPU have their own options. */
  readonly resources?: Readonly<Record<string, number>>;
  readonly runtimeEnv?: RuntimeEnv;
  /** Nodes on which it may run. Default: `DEFAULT`. */
  readonly schedulingStrategy?: SchedulingStrategy;
}

/** Options of one task. */
export interface TaskOptions extends ResourceOptions, RetryExceptions {
  /** A label in Ray's dashboard. */
  readonly name?: string;
  /** How often Ray repeats the task when its process dies; -1 for no limit. Default: 3. */
  readonly maxRetries?: number;
}

/** Options of one actor. */
export interface ActorOptions extends ResourceOptions {
  readonly name?: string;
  /** Namespace of the name. Default: that of the connection. */
  readonly namespace?: string;
  /** `detached`: the actor outlives the session. */
  readonly lifetime?: 'detached' | 'non_detached';
  /**
   * Yields the actor of that name if it exists already. Needs `name`, and wants `lifetime: 'detached'`: the
   * server keeps one handle per actor and session, and asking again replaces the one that keeps other actors alive.
   */
  readonly getIfExists?: boolean;
  /** How often Ray starts the actor again after its process died; -1 for no limit. Default: 0. */
  readonly maxRestarts?: number;
  /** How often Ray repeats a method when the actor died under it; -1 for no limit. Default: 0. */
  readonly maxTaskRetries?: number;
  /** Methods that run at the same time. Default: 1, or 1000 if the class has asynchronous methods. */
  readonly maxConcurrency?: number;
}

/** Options of one call of a method. */
export interface MethodOptions extends Partial<NumReturns>, RetryExceptions {
  /** How often Ray repeats the method; -1 for no limit. Default: that of the actor. */
  readonly maxTaskRetries?: number;
}

type AnyOptions = TaskOptions & ActorOptions & MethodOptions;

const NAMES: Readonly<Record<keyof AnyOptions, string>> = {
  numCpus: 'num_cpus',
  numGpus: 'num_gpus',
  memoryBytes: 'memory',
  resources: 'resources',
  runtimeEnv: 'runtime_env',
  schedulingStrategy: 'scheduling_strategy',
  name: 'name',
  maxRetries: 'max_retries',
  retryExceptions: 'retry_exceptions',
  namespace: 'namespace',
  lifetime: 'lifetime',
  getIfExists: 'get_if_exists',
  maxRestarts: 'max_restarts',
  maxTaskRetries: 'max_task_retries',
  maxConcurrency: 'max_concurrency',
  numReturns: 'num_returns',
};

/**
 * The pickled dictionary of Python keyword arguments; undefined if nothing is asked for.
 * Throws TypeError for an option that does not exist, and for values that this side can judge;
 * {@link RayGeneratorError} if `numReturns` asks for a stream of values.
 */
export function encodeOptions(options: TaskOptions | ActorOptions | MethodOptions): Uint8Array | undefined {
  const keywords: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const name = Object.hasOwn(NAMES, key) ? NAMES[key as keyof AnyOptions] : undefined;
    if (name === undefined) throw new TypeError(`"${key}" is no option of a task or an actor`);
    keywords[name] = encodeOption(key, value);
  }
  return Object.keys(keywords).length === 0 ? undefined : writePickle(keywords, { code: true });
}

function encodeOption(key: string, value: unknown): unknown {
  if (key === 'numReturns' && (value === 'streaming' || value === 'dynamic'))
    throw new RayGeneratorError(`numReturns is "${value}"`);
  if (key === 'numReturns' && !(Number.isInteger(value) && Number(value) >= 0)) {
    throw new TypeError(`numReturns must be a whole number of values, not ${value}`);
  }
  if (key === 'schedulingStrategy') return encodeStrategy(value as SchedulingStrategy);
  if (key === 'retryExceptions' && Array.isArray(value)) return value.map(exceptionClass);
  return value;
}

function exceptionClass(reference: string): PyGlobal {
  const { module, qualname } = parseReference(reference);
  return new PyGlobal(module, qualname);
}
