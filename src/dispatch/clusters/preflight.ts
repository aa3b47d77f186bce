import { plural } from 'command-kit/plural';
import type { LaunchPlan } from '../../core/launch-plan.ts';
import type { CheckFinding } from '../../engines/engine.ts';
import { findEngine, type ResolvedSpec } from '../../engines/registry.ts';
import type { RayWorkerClient, RayWorkerDescription } from '../../rpc/ray-worker.ts';
import { RayWorkerError } from '../../rpc/status.ts';
import { couldFit, needOf } from '../../scheduler/placement.ts';
import { amount, needInWords } from '../../scheduler/wait-reasons.ts';
import type { PreflightFinding } from '../../schemas/clusters.ts';
import type { RunCommand } from './command-runner.ts';

/** The request of a `preflight`: a resolved spec, or nothing to check the cluster only. */
type PreflightRequest = Partial<Pick<ResolvedSpec, 'spec' | 'defaults'>>;

const ORDER = { error: 0, warning: 1, ok: 2 };
const DEADLINE_MS = 300_000;

/**
 * Checks a spec, the cluster, and whether the cluster has what the spec needs. Allocates nothing. It succeeds whatever it
 * finds; an unreachable cluster is also a finding.
 */
export function createPreflight({
  rayWorkerOf,
  envOf,
  compile,
  deadlineMs = DEADLINE_MS,
}: {
  rayWorkerOf(cluster: string): Promise<RayWorkerClient>;
  /** Environment variables of a cluster. */
  envOf(cluster: string): Promise<Readonly<Record<string, string>>>;
  compile(spec: ResolvedSpec['spec'], clusterEnv?: Readonly<Record<string, string>>): LaunchPlan;
  /** Deadline of the checks on the cluster. Default: 5 minutes. */
  deadlineMs?: number;
}): RunCommand {
  return async ({ cluster, request, say, found, signal }) => {
    const { spec: requested, defaults = [] } = request as PreflightRequest;
    const findings = requested ? checksOf({ spec: requested, defaults }) : [];
    const spec = requested && findEngine(requested.engine) ? requested : undefined;
    await say(`checking ${cluster}`);
    try {
      const client = await rayWorkerOf(cluster);
      const description = await client.describe(signal);
      findings.push(...describe(description));
      if (spec) findings.push(...roomFor(spec, description));
      const plan = spec ? compile(spec, await envOf(cluster)) : null;
      findings.push(...(await client.preflight(plan, deadlineMs, signal)));
    } catch (error) {
      if (signal.aborted || !(error instanceof RayWorkerError)) throw error;
      findings.push(ofFault(error, cluster));
    }
    findings.sort((left, right) => ORDER[left.severity] - ORDER[right.severity]);
    found(findings);
    await say(summary(findings));
  };
}

/** The number of findings, in words. */
function summary(findings: readonly PreflightFinding[]): string {
  const count = (severity: PreflightFinding['severity']) =>
    findings.filter((finding) => finding.severity === severity).length;
  const faults = `${plural(count('error'), 'error')}, ${plural(count('warning'), 'warning')}`;
  return `${plural(findings.length, 'check')}: ${faults}, ${count('ok')} ok`;
}

function checksOf({ spec, defaults }: ResolvedSpec): PreflightFinding[] {
  const engine = findEngine(spec.engine);
  if (engine !== undefined) return (engine.check?.({ spec, defaults }) ?? []).map(ofCheck);
  const message = `This dispatcher has no engine ${spec.engine}.`;
  const remedy = 'Run the same version of Echelon in every process.';
  return [{ severity: 'error', check: 'engine', message, remedy }];
}

function ofCheck({ check, severity, message, remedy }: CheckFinding): PreflightFinding {
  return { severity: severity === 'note' ? 'ok' : severity, check, message, remedy };
}

function describe({ version, rayVersion, nodes }: RayWorkerDescription): PreflightFinding[] {
  const alive = nodes.filter((node) => node.alive);
  const ray = rayVersion === '' ? 'without Ray' : `Ray ${rayVersion}`;
  const each = alive
    .map((node) => `${node.address}: ${amount(node.gpusTotal, 'GPU')}, ${amount(node.cpusTotal, 'CPU')}`)
    .join('; ');
  const message = `ray-worker ${version}, ${ray}; ${each || 'no node'}`;
  if (alive.length > 0) return [{ severity: 'ok', check: 'cluster', message, remedy: '' }];
  return [{ severity: 'error', check: 'cluster', message, remedy: 'Start a node of Ray.' }];
}

/** Whether the nodes are large enough for the whole experiment, and whether they are free now. */
function roomFor(
  { engine, resources }: ResolvedSpec['spec'],
  { nodes }: RayWorkerDescription,
): PreflightFinding[] {
  const alive = nodes.filter((node) => node.alive);
  const need = needOf(resources);
  const wanted = needInWords(need);
  if (!couldFit(need, alive)) {
    const settings = ['/resources', ...(findEngine(engine)?.sizeSettings ?? [])];
    const remedy = `Lower ${settings.join(' or ')}, or use a cluster with more or larger nodes; otherwise the experiment waits forever.`;
    return [{ severity: 'error', check: 'room', message: `There is no room for ${wanted}.`, remedy }];
  }
  const free = alive.map(({ id, gpusAvailable, cpusAvailable, labels }) => {
    return { id, gpusTotal: gpusAvailable, cpusTotal: cpusAvailable, labels };
  });
  const state = couldFit(need, free) ? 'and is free now' : 'but is not free now, so the experiment will wait';
  const message = `${wanted}: the cluster is large enough, ${state}.`;
  return [{ severity: 'ok', check: 'room', message, remedy: '' }];
}

function ofFault({ fault, message }: RayWorkerError, cluster: string): PreflightFinding {
  const again = `Update the ray-worker: run \`echelon clusters add ${cluster} …\` again with its address.`;
  const remedies: Partial<Record<typeof fault, string>> = {
    unreachable:
      'Check that Ray runs there and that dispatchers can reach the ray-worker. `echelon clusters` shows when it last answered.',
    invalid: again,
    denied: again,
  };
  const remedy = remedies[fault] ?? 'Try again. The logs of the ray-worker have the details.';
  return { severity: 'error', check: 'cluster', message, remedy };
}
