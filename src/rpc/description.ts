import { shortened } from '../core/event-bounds.ts';
import type { NodeHealth } from '../core/node-health.ts';
import type { NodeUse } from '../core/node-states.ts';
import { toNumber } from './events.ts';
import { echelon } from './gen/ray-worker.js';
import type { RayWorkerDescription, RayWorkerFinding } from './ray-worker.ts';
import { RayWorkerError } from './status.ts';

/*
 * What a ray-worker says of its cluster, within bounds: the store retains it, every page of clusters shows it, and the
 * scheduler calculates with it. A text is cut with a mark; an answer with more entries than these is refused.
 */

const MAX_NODES = 4096;
const MAX_ENGINES = 64;
const MAX_SPEC_VERSIONS = 64;
const MAX_LABELS = 64;
const MAX_USES = 1024;
const MAX_GPUS = 64;
const MAX_FAULTS = 64;
const MAX_FINDINGS = 256;
const MAX_TEXT = 1024;
/** No node has more of anything. */
const MAX_AMOUNT = 2 ** 20;

const v1 = echelon.rayworker.v1;

/** The description of a cluster. Throws RayWorkerError `invalid` if it exceeds the bounds. */
export function toDescription(answer: echelon.rayworker.v1.DescribeResponse): RayWorkerDescription {
  return {
    version: text(answer.version),
    generation: text(answer.generation),
    rayVersion: text(answer.rayVersion),
    pythonVersion: text(answer.pythonVersion),
    nodeId: text(answer.nodeId),
    sharedRoot: text(answer.sharedRoot),
    engines: all('engines', answer.engines, MAX_ENGINES).map(text),
    specVersions: all('versions of a spec', answer.specVersions, MAX_SPEC_VERSIONS).map(amount),
    freeDiskBytes: toNumber(answer.freeDiskBytes),
    startedAt: toNumber(answer.startedAtUnixMs),
    nodes: all('nodes', answer.nodes, MAX_NODES).map((node) => ({
      id: text(node.id),
      address: text(node.address),
      alive: node.alive ?? false,
      cpusTotal: amount(node.cpusTotal),
      gpusTotal: amount(node.gpusTotal),
      cpusAvailable: amount(node.cpusAvailable),
      gpusAvailable: amount(node.gpusAvailable),
      draining: node.draining ? { remainingMs: toNumber(node.drainRemainingMs) || null } : null,
      uses: node.usesKnown ? all('uses of a node', node.uses, MAX_USES).map(toNodeUse) : null,
      labels: toLabels(node.labels ?? {}),
      ...(node.health && { health: toNodeHealth(node.health) }),
    })),
  };
}

/** The findings of a preflight. Throws likewise. */
export function toFindings(answer: echelon.rayworker.v1.PreflightResponse): RayWorkerFinding[] {
  return all('findings', answer.findings, MAX_FINDINGS).map((finding) => {
    const { Severity } = v1.Finding;
    // A severity that this version does not know does not count as ok.
    const notOk = finding.severity === Severity.ERROR ? 'error' : 'warning';
    const severity = finding.severity === Severity.OK ? 'ok' : notOk;
    return {
      check: text(finding.check),
      severity,
      message: text(finding.message),
      remedy: text(finding.remedy),
    };
  });
}

function toLabels(labels: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    all('labels of a node', Object.entries(labels), MAX_LABELS).map(([name, value]) => [
      text(name),
      text(value),
    ]),
  );
}

function toNodeHealth(health: echelon.rayworker.v1.NodeHealth.$Properties): NodeHealth {
  return {
    cpuPercent: health.cpuPercent ?? null,
    memoryPercent: health.memoryPercent ?? null,
    gpus: all('GPUs of a node', health.gpus, MAX_GPUS).map((one) => ({
      gpu: text(one.gpu),
      model: text(one.model),
      utilizationPercent: one.utilizationPercent ?? null,
      memoryPercent: one.memoryPercent ?? null,
      temperatureCelsius: one.temperatureCelsius ?? null,
      xid: one.xid ?? null,
      eccErrors: one.eccErrors == null ? null : toNumber(one.eccErrors),
      faults: all('faults of a GPU', one.faults, MAX_FAULTS).map(text),
    })),
  };
}

function toNodeUse(use: echelon.rayworker.v1.NodeUse.$Properties): NodeUse {
  return {
    experiment: text(use.experiment) || null,
    name: text(use.name) || text(use.job) || 'a Ray job',
    since: toNumber(use.sinceUnixMs) || null,
    gpus: amount(use.gpus),
    cpus: amount(use.cpus),
  };
}

/** GPUs or CPUs: neither negative nor NaN. */
function amount(value: number | null | undefined): number {
  return value !== null && value !== undefined && value >= 0 ? Math.min(value, MAX_AMOUNT) : 0;
}

function text(value: string | null | undefined): string {
  return shortened(value ?? '', MAX_TEXT);
}

function all<T>(what: string, values: readonly T[] | null | undefined, most: number): readonly T[] {
  const found = values ?? [];
  if (found.length <= most) return found;
  throw new RayWorkerError(
    'invalid',
    `the ray-worker reports ${found.length} ${what}; at most ${most} are read`,
  );
}
