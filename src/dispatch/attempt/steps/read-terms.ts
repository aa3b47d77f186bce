import type { AllocatedNode } from '../../../core/launch-plan.ts';
import type { ResolvedSpec } from '../../../engines/registry.ts';
import type { SecretProjects } from '../../../engines/secret-projects.ts';
import { type AttemptContext, cancelAttempt } from '../context.ts';
import { CAUSE_RULES } from '../decide.ts';
import { type Interrupted, repeat, YIELDED } from '../step.ts';

/** The terms of an attempt: its spec, and the earlier attempts that the decision about its end depends on. */
export interface Terms {
  spec: ResolvedSpec['spec'];
  /** Environment variables of the cluster. */
  clusterEnv: Readonly<Record<string, string>>;
  /** Which projects may use which secrets of the cluster. */
  secretProjects: SecretProjects;
  /** The nodes on which it must run. */
  nodes: readonly AllocatedNode[];
  /** Earlier attempts that do not count against `maxAttempts`. */
  uncounted: number;
  /** Earlier attempts whose supervisor was lost. */
  supervisorsLost: number;
}

/** Reads the experiment's record. Yields if the record does not have this attempt. */
export function readTerms(context: AttemptContext): Promise<{ kind: 'terms'; terms: Terms } | Interrupted> {
  const { store } = context.deps;
  const { experiment, attempt } = context.lease;
  return repeat(context, 'read the record', async () => {
    const [record, attempts, [cluster], nodes] = await Promise.all([
      store.experiments.get(experiment),
      store.attempts.list(experiment),
      store.clusters.list([context.cluster]),
      store.attempts.allocation(context.cluster, experiment),
    ]);
    if (record === undefined || record.attempt !== attempt) return YIELDED;
    if (record.state === 'cancelling') cancelAttempt(context);
    const earlier = attempts.filter((one) => one.attempt < attempt);
    // An orderly stop, a shortage of GPUs and a hand-over between dispatchers are not the training's fault.
    const uncounted = earlier.filter(
      ({ ended, givenUpAt }) =>
        givenUpAt !== null || (ended !== null && CAUSE_RULES[ended.cause].again === 'free'),
    );
    const terms = {
      spec: record.resolved as ResolvedSpec['spec'],
      clusterEnv: cluster?.env ?? {},
      secretProjects: cluster?.secretProjects ?? null,
      nodes,
      uncounted: uncounted.length,
      supervisorsLost: earlier.filter((one) => one.ended?.cause === 'supervisor-lost').length,
    };
    return { kind: 'terms', terms };
  });
}
