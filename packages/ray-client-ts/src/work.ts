import { assertAlive, type ClusterState, parseNamedActors, type Resources } from './cluster.ts';
import { functionRef, type RemoteFunction } from './code.ts';
import type { RayConnection } from './connection.ts';
import { withLimits } from './limits.ts';
import type { ActorOptions, TaskOptions } from './options.ts';
import { ObjectRef, onlyRef } from './references.ts';
import type { Remote } from './remote.ts';
import { requiredNode, type SchedulingStrategy } from './scheduling.ts';
import { type NumReturns, type ReadCall, readCall, type Signature } from './signatures.ts';

const RESOURCES_PER_NODE = functionRef<() => Record<string, Resources>>(
  'ray._private.state:available_resources_per_node',
);

/** The operations on objects, tasks and actors. */
export type Work = Pick<
  RayConnection,
  | 'put'
  | 'get'
  | 'wait'
  | 'asCompleted'
  | 'release'
  | 'task'
  | 'call'
  | 'createActor'
  | 'getActor'
  | 'namedActors'
  | 'availableResourcesPerNode'
>;

/** What {@link createWork} works with. */
export interface WorkDependencies {
  readonly remote: Remote;
  readonly cluster: Pick<ClusterState, 'nodes'>;
  readonly namespace: string;
}

type TaskCall = ReadCall<TaskOptions & Partial<NumReturns>>;

/** Objects, tasks and actors for callers: reads each call, applies its limits and checks its required node. */
export function createWork(dependencies: WorkDependencies): Work {
  const { remote } = dependencies;
  return {
    ...createTasks(dependencies),
    ...createActors(dependencies),
    put: (async (value, limits = {}) => remote.put(value, limits)) as Work['put'],
    get: (async (refs: ObjectRef | readonly ObjectRef[], limits = {}) =>
      refs instanceof ObjectRef ? remote.get(refs, limits) : remote.getMany(refs, limits)) as Work['get'],
    wait: ((refs, options) => remote.wait(refs, options)) as Work['wait'],
    asCompleted: ((refs, limits) => remote.asCompleted(refs, limits)) as Work['asCompleted'],
    release: (ref, limits) => remote.release(ref, limits),
  };
}

/** Throws if a call requires a node that is not alive. */
async function checkNode(
  cluster: WorkDependencies['cluster'],
  strategy: SchedulingStrategy | undefined,
  signal?: AbortSignal,
): Promise<void> {
  const node = requiredNode(strategy);
  if (node !== undefined) await assertAlive(cluster, node, signal);
}

function createTasks({
  remote,
  cluster,
}: WorkDependencies): Pick<Work, 'task' | 'call' | 'availableResourcesPerNode'> {
  const start = async (fn: RemoteFunction<Signature>, call: TaskCall, signal?: AbortSignal) => {
    await checkNode(cluster, call.options.schedulingStrategy, signal);
    return remote.task(fn, call, signal);
  };
  const task = async (fn: RemoteFunction<Signature>, ...rest: readonly unknown[]): Promise<unknown> => {
    const call: TaskCall = readCall(rest);
    const refs = await withLimits(
      (signal) => start(fn, call, signal),
      call.limits,
      fn.label,
      (late) => {
        for (const ref of late) remote.references.release(ref);
      },
    );
    return call.options.numReturns === undefined ? onlyRef(refs, fn.label) : refs;
  };
  const call = async (fn: RemoteFunction<Signature>, ...rest: readonly unknown[]): Promise<unknown> => {
    const read: TaskCall = readCall(rest);
    const { limits, options } = read;
    const fetched = { limits, numReturns: options.numReturns, what: fn.label };
    return remote.fetch((signal) => start(fn, read, signal), fetched);
  };
  return {
    task: task as Work['task'],
    call: call as Work['call'],
    availableResourcesPerNode: async ({ timeoutMs = 30_000, signal } = {}) =>
      (await call(RESOURCES_PER_NODE, { numCpus: 0, timeoutMs, signal })) as Record<string, Resources>,
  };
}

function createActors({
  remote,
  cluster,
  namespace,
}: WorkDependencies): Pick<Work, 'createActor' | 'getActor' | 'namedActors'> {
  return {
    createActor: async (cls, ...rest) => {
      const read = readCall<ActorOptions>(rest);
      const create = async (signal: AbortSignal | undefined) => {
        await checkNode(cluster, read.options.schedulingStrategy, signal);
        return remote.createActor(cls, read, signal);
      };
      return (await withLimits(create, read.limits, cls.label, remote.discard)) as never;
    },
    getActor: async (name, { namespace: elsewhere = namespace, ...limits } = {}) => {
      const find = () => remote.getActor(name, elsewhere);
      return (await withLimits(find, limits, `actor ${name}`, remote.discard)) as never;
    },
    namedActors: async ({ allNamespaces = false, ...limits } = {}) => {
      const names = await withLimits(() => remote.namedActors(allNamespaces), limits, 'named actors');
      return parseNamedActors(names, namespace);
    },
  };
}
