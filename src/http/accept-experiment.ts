import { createHash } from 'node:crypto';
import { newExperimentId } from '../core/ids.ts';
import type { Caller } from '../core/scopes.ts';
import type { Accepted } from '../schemas/api.ts';
import { canonicalJson } from '../schemas/json.ts';
import type { ExperimentSpec } from '../schemas/spec.ts';
import type { AuditInput } from '../store/access/contract.ts';
import { resolveFor } from './access/caller-projects.ts';
import { fingerprintOf } from './fingerprint-of.ts';
import { joinLine } from './join-line.ts';
import { requirePlace } from './require-place.ts';
import type { RouteDeps } from './server/deps.ts';

/** What is to become an experiment, and who asks for it. */
export interface Submission {
  caller: Caller;
  spec: ExperimentSpec;
  /** The Idempotency-Key. */
  key: string | undefined;
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
  const { caller, spec, key, rerunOf } = submission;
  const resolved = await resolveFor(deps.store, caller, spec);
  const { project, name, priority, cluster, resources } = resolved.spec;
  await requirePlace(deps.store, resolved.spec);
  const asked = rerunOf === undefined ? spec : { rerunOf };
  const wanted = newExperimentId();
  const { id, created } = await deps.store.submit({
    ...{
      id: wanted,
      project,
      name,
      priority,
      cluster,
      gpus: resources.gpus,
      cpus: resources.cpus,
    },
    submitted: spec,
    resolved: resolved.spec,
    defaults: resolved.defaults,
    fingerprint: fingerprintOf(resolved.spec),
    ...(rerunOf !== undefined && { rerunOf }),
    ...(key !== undefined && { idempotency: { key, digest: digestOf(asked), caller } }),
    audit: submission.audit(wanted),
  });
  if (created) joinLine(deps, [{ experiment: id, priority }]);
  const self = `/v1/experiments/${id}`;
  return { accepted: { id, self, events: `${self}/events` }, created };
}

function digestOf(asked: unknown): string {
  return createHash('sha256').update(canonicalJson(asked)).digest('hex');
}
