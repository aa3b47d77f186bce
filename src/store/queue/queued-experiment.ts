import { fromRank } from '../../core/priority-class.ts';
import type { ExpectedPlace } from '../../schemas/answer-parts.ts';
import { count, type Fields, json, time } from '../redis/fields.ts';
import type { QueuedExperiment } from './types.ts';

/** A queued experiment from its hash. */
export function toQueuedExperiment(id: string, fields: Fields): QueuedExperiment {
  return {
    experiment: id,
    name: fields.name ?? '',
    project: fields.project ?? '',
    ...fromRank(count(fields.priority)),
    cluster: fields.wanted || null,
    gpus: count(fields.gpus),
    cpus: count(fields.cpus),
    nodes: Number(fields.nodes ?? 1),
    ...(fields.nodeLabels ? { nodeLabels: json(fields.nodeLabels) as Record<string, string> } : {}),
    submittedAt: count(fields.submittedAt),
    reason: fields.waitReason ?? null,
    notBefore: time(fields.notBefore),
    waitsFor: fields.waitsFor || null,
    ...(fields.avoid ? { avoid: json(fields.avoid) as string[] } : {}),
    ...(fields.wantedLabels ? { labels: json(fields.wantedLabels) as Record<string, string> } : {}),
    sweep: fields.sweep ?? null,
    rank: fields.waitRank ? Number(fields.waitRank) : null,
    ...toEstimate(fields.waitEstimate),
    ...(fields.seq ? { arrival: Number(fields.seq) } : {}),
    checkpoint: toQueuedCheckpoint(fields),
  };
}

/** Whether a checkpoint is in an object store, such as s3://bucket/key, which every cluster reaches. */
export const isEverywhere = (path: string): boolean => /^[a-z][a-z0-9+.-]*:\/\//.test(path);

function toQueuedCheckpoint({
  checkpoint,
  checkpointCluster,
}: Fields): NonNullable<QueuedExperiment['checkpoint']> | null {
  if (!checkpoint || !checkpointCluster) return null;
  const { step, path } = JSON.parse(checkpoint) as { step: number; path: string };
  if (isEverywhere(path)) return null;
  // The directory of the experiment belongs to its ray-worker; other paths are on the storage of the cluster.
  return { cluster: checkpointCluster, step, ...(path.startsWith('../') && { shared: true as const }) };
}

/** A stored estimate: its three times and its place, or why there is none. */
function toEstimate(text: string | undefined): Pick<QueuedExperiment, 'estimate' | 'unknown' | 'place'> {
  const stored = text ? (JSON.parse(text) as string | [number, number, number, ExpectedPlace | null]) : null;
  if (stored === null || typeof stored === 'string') return { estimate: null, unknown: stored, place: null };
  const [startAt, earliest, latest, place] = stored;
  return { estimate: { startAt, earliest, latest }, unknown: null, place };
}
