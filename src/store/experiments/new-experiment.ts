import { rankOf } from '../../core/priority-class.ts';
import type { SubmitInput } from './types.ts';

/** The input of an experiment's record without its place in a project or a sweep, and without its documents. */
export type NewExperimentInput = Pick<
  SubmitInput,
  'name' | 'priority' | 'priorityClass' | 'cluster' | 'gpus' | 'cpus' | 'resolved' | 'customCode'
>;

/**
 * The fields of a new experiment for the scripts (see redis/lua/create.lua), '' for each that it omits. All are texts, so that
 * no number changes its form on the way.
 */
export function newExperiment(
  id: string,
  input: NewExperimentInput,
  fingerprint: string | null,
): Record<string, string> {
  return {
    id,
    name: input.name,
    priority: String(rankOf(input)),
    wanted: input.cluster ?? '',
    gpus: String(input.gpus),
    cpus: String(input.cpus),
    fingerprint: fingerprint ?? '',
    customCode: input.customCode ? '1' : '',
    ...limitsOf(input.resolved as ResolvedLimits),
    saveEvery: stepsToSave(input.resolved as Saving),
  };
}

/** How a resolved spec says when a training saves: every so many steps; 0: at its end only. */
interface Saving {
  training?: { saveEvery?: number; steps?: number };
}

function stepsToSave({ training: { saveEvery, steps } = {} }: Saving): string {
  return saveEvery === undefined ? '' : String(saveEvery || (steps ?? ''));
}

/** The fields of a resolved spec that the scripts need beside its text. */
interface ResolvedLimits {
  timeoutSeconds?: number | null;
  deadline?: string | null;
  clusterLabels?: Record<string, string> | null;
  tags?: readonly string[];
  resources?: { nodes?: number; nodeLabels?: Record<string, string> };
}

function limitsOf({ timeoutSeconds, deadline, clusterLabels, resources, tags = [] }: ResolvedLimits) {
  return {
    timeoutMs: timeoutSeconds ? String(Math.round(timeoutSeconds * 1000)) : '',
    deadlineAt: deadline ? String(Date.parse(deadline)) : '',
    labels: labelsOf(clusterLabels),
    nodes: String(resources?.nodes ?? 1),
    nodeLabels: labelsOf(resources?.nodeLabels),
    tags: tags.join('\n'),
  };
}

function labelsOf(labels: Record<string, string> | null | undefined): string {
  return Object.keys(labels ?? {}).length > 0 ? JSON.stringify(labels) : '';
}
