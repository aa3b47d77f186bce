import type { NumReturns } from './actor.ts';
import { PyCall, PyGlobal } from './pickle/values.ts';
import { writePickle } from './pickle/writer.ts';

/** A runtime environment as Ray's servers take it: `working_dir` and `py_modules` are URIs, never local paths. */
export type RuntimeEnv = Readonly<Record<string, unknown>>;

/** What a task or an actor asks of the cluster. Absent: Ray's default. */
export interface ResourceOptions {
  readonly numCpus?: number;
  readonly numGpus?: number;
  readonly memoryBytes?: number;
  /** Custom resources by name; CPU and GPU have their own options. */
  readonly resources?: Readonly<Record<string, number>>;
  readonly runtimeEnv?: RuntimeEnv;
  /** Hexadecimal id of the only node on which it may run; RayRequestError (NOT_FOUND) where it is not alive. */
  readonly nodeId?: string;
}

/** Options of one task. */
export interface TaskOptions extends ResourceOptions {
  readonly name?: string;
  /** How often Ray repeats the task when its process dies. */
  readonly maxRetries?: number;
}

/** Options of one actor. */
export interface ActorOptions extends ResourceOptions {
  readonly name?: string;
  /** Namespace of the name; absent: that of the connection. */
  readonly namespace?: string;
  /** `detached`: lives on after the session. */
  readonly lifetime?: 'detached' | 'non_detached';
  /**
   * Yields the actor of that name where it exists already. Needs `name`, and wants `lifetime: 'detached'`: the
   * server keeps one handle per actor and session, and asking again replaces the one that keeps other actors alive.
   */
  readonly getIfExists?: boolean;
  readonly maxRestarts?: number;
  readonly maxTaskRetries?: number;
  /** Methods that run at the same time; 1 unless the class has asynchronous methods. */
  readonly maxConcurrency?: number;
}

type OptionName = keyof TaskOptions | keyof ActorOptions | keyof NumReturns;

const NAMES: Readonly<Record<OptionName, string>> = {
  numCpus: 'num_cpus',
  numGpus: 'num_gpus',
  memoryBytes: 'memory',
  resources: 'resources',
  runtimeEnv: 'runtime_env',
  nodeId: 'scheduling_strategy',
  name: 'name',
  maxRetries: 'max_retries',
  namespace: 'namespace',
  lifetime: 'lifetime',
  getIfExists: 'get_if_exists',
  maxRestarts: 'max_restarts',
  maxTaskRetries: 'max_task_retries',
  maxConcurrency: 'max_concurrency',
  numReturns: 'num_returns',
};

const NODE_AFFINITY = new PyGlobal('ray.util.scheduling_strategies', 'NodeAffinitySchedulingStrategy');

/**
 * The pickled dictionary of Python keyword arguments; undefined where nothing is asked for.
 * Throws TypeError for an option that does not exist, and for a `numReturns` that is no count.
 */
export function encodeOptions(
  options: TaskOptions | ActorOptions | Partial<NumReturns>,
): Uint8Array | undefined {
  const keywords: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const name = Object.hasOwn(NAMES, key) ? NAMES[key as keyof typeof NAMES] : undefined;
    if (name === undefined) throw new TypeError(`"${key}" is no option of a task or an actor`);
    if (key === 'numReturns' && !(Number.isInteger(value) && value >= 0)) {
      throw new TypeError(`numReturns must be a whole number of values, not ${value}`);
    }
    keywords[name] = key === 'nodeId' ? new PyCall(NODE_AFFINITY, value, false) : value;
  }
  return Object.keys(keywords).length === 0 ? undefined : writePickle(keywords, { code: true });
}
