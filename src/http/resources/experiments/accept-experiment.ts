import { newExperimentId } from '../../../core/ids.ts';
import type { Caller } from '../../../core/scopes.ts';
import { customCodeOf, type ExperimentSpec, fingerprintOf } from '../../../engines/registry.ts';
import { needOf } from '../../../scheduler/placement.ts';
import type { Accepted } from '../../../schemas/api.ts';
import type { Idempotency } from '../../../store/access/answers.ts';
import type { AuditInput } from '../../../store/access/audit.ts';
import { createIntake } from '../../intake/intake.ts';
import { fitWarnings } from '../../intake/placement.ts';
import type { RouteDeps } from '../../server/deps.ts';
import { enqueue } from './enqueue.ts';

/** What is to become an experiment, and who asks for it. */
export interface Submission {
  caller: Caller;
  spec: ExperimentSpec;
  /** Undefined: the request has no Idempotency-Key. */
  idempotency: Idempotency | undefined;
  /** The experiment that it runs again. */
  rerunOf?: string;
  /** The entry of the audit log for an experiment with this id; it is written in the step that makes the experiment. */
  audit(id: string): AuditInput;
}

/**
 * Checks a valid spec against what this installation has, stores it as an experiment and gives it its job. When it
 * returns, the experiment is on disk; with a key that was used before, it is the one that was made then, and `created` is
 * false. Throws EchelonError `invalid-spec`, `idempotency-conflict`, `store-full`.
 */
export async function acceptExperiment(
  deps: RouteDeps,
  submission: Submission,
): Promise<{ accepted: Accepted; created: boolean }> {
  const { caller, spec, idempotency, rerunOf } = submission;
  const intake = createIntake(deps, caller);
  const resolved = await intake.take(spec);
  const { project, name, priority, priorityClass, cluster, resources } = resolved.spec;
  const wanted = newExperimentId();
  const { id, created } = await deps.store.experiments.submit({
    id: wanted,
    project,
    name,
    priority,
    priorityClass,
    cluster,
    gpus: needOf(resources).gpus,
    cpus: resources.cpus,
    submitted: spec,
    resolved: resolved.spec,
    defaults: resolved.defaults,
    fingerprint: fingerprintOf(resolved.spec),
    customCode: customCodeOf(resolved.spec as ExperimentSpec),
    ...(rerunOf !== undefined && { rerunOf }),
    ...(idempotency && { idempotency }),
    owner: caller.name,
    audit: submission.audit(wanted),
  });
  if (created) enqueue(deps, [{ experiment: id }]);
  const self = `/v1/experiments/${id}`;
  // The experiment is accepted, whether or not the clusters can be read.
  const clusters = await intake.clusters().catch(() => []);
  const warnings = fitWarnings(resolved.spec, clusters);
  return { accepted: { id, self, events: `${self}/events`, warnings }, created };
}
