import { assertAlive, type Cluster, parseNamedActors, type Resources } from './cluster.ts';
import { functionRef, type RemoteFunction } from './code.ts';
import type { RayConnection } from './connection.ts';
import { withLimits } from './limits.ts';
import type { ActorOptions, NumReturns, TaskOptions } from './options.ts';
import { ObjectRef, onlyRef } from './references.ts';
import type { Remote } from './remote.ts';
import { requiredNode, type SchedulingStrategy } from './scheduling.ts';
import { type ReadCall, readCall, type Signature } from './signatures.ts';

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
  readonly cluster: Pick<Cluster, 'nodes'>;
  readonly namespace: string;
}

/** Objects, tasks and actors as callers have them: calls taken apart, with limits, and a required node looked for. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: one object: its methods share what the function holds
export function createWork({ remote, cluster, namespace }: WorkDependencies): Work {
  const checkNode = async (strategy: SchedulingStrategy | undefined, signal?: AbortSignal): Promise<void> => {
    const node = requiredNode(strategy);
    if (node !== undefined) await assertAlive(cluster, node, signal);
  };
  type TaskCall = ReadCall<TaskOptions & Partial<NumReturns>>;
  const start = async (fn: RemoteFunction<Signature>, call: TaskCall, signal?: AbortSignal) => {
    await checkNode(call.options.schedulingStrategy, signal);
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
  const createActor: Work['createActor'] = async (cls, ...rest) => {
    const read = readCall<ActorOptions>(rest);
    const create = async (signal: AbortSignal | undefined) => {
      await checkNode(read.options.schedulingStrategy, signal);
      return remote.createActor(cls, read, signal);
    };
    return (await withLimits(create, read.limits, cls.label, remote.discard)) as never;
  };
  return {
    task: task as Work['task'],
    call: call as Work['call'],
    createActor,
    getActor: async (name, { namespace: elsewhere = namespace, ...limits } = {}) =>
      (await withLimits(
        () => remote.getActor(name, elsewhere),
        limits,
        `actor ${name}`,
        remote.discard,
      )) as never,
    namedActors: async ({ allNamespaces = false, ...limits } = {}) => {
      const names = await withLimits(() => remote.namedActors(allNamespaces), limits, 'named actors');
      return parseNamedActors(names, namespace);
    },
    availableResourcesPerNode: async ({ timeoutMs = 30_000, signal } = {}) =>
      (await call(RESOURCES_PER_NODE, { numCpus: 0, timeoutMs, signal })) as Record<string, Resources>,
    put: (async (value, limits = {}) => remote.put(value, limits)) as Work['put'],
    get: (async (refs: ObjectRef | readonly ObjectRef[], limits = {}) =>
      refs instanceof ObjectRef ? remote.get(refs, limits) : remote.getMany(refs, limits)) as Work['get'],
    wait: ((refs, options) => remote.wait(refs, options)) as Work['wait'],
    asCompleted: ((refs, limits) => remote.asCompleted(refs, limits)) as Work['asCompleted'],
    release: (ref, limits) => remote.release(ref, limits),
  };
}
