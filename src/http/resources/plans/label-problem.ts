import { nearestName } from 'echelon-verify/text/nearest';
import type { FieldProblem } from '../../../core/errors.ts';
import type { Cluster } from '../../../store/clusters/contract.ts';

/** What is wrong with the labels of a spec, or null: no cluster that it may run on has all of them. */
export function labelProblem(
  { cluster, clusterLabels }: { cluster: string | null; clusterLabels: Readonly<Record<string, string>> },
  clusters: readonly Pick<Cluster, 'name' | 'labels'>[],
): FieldProblem | null {
  const possible = clusters.filter(({ name }) => cluster === null || name === cluster);
  const wanted = Object.entries(clusterLabels);
  const fits = possible.some(({ labels = {} }) => wanted.every(([key, value]) => labels[key] === value));
  if (fits) return null;
  const known = possible.flatMap(({ labels = {} }) =>
    Object.entries(labels).map(([key, value]) => `${key}=${value}`),
  );
  const asked = wanted.map(([key, value]) => `${key}=${value}`);
  const missing = asked.find((label) => !known.includes(label));
  const near = missing === undefined ? undefined : nearestName(missing, known);
  const whose = cluster === null ? 'no cluster has' : `cluster ${cluster} does not have`;
  const hint =
    near !== undefined
      ? `did you mean ${near}?`
      : `known: ${[...new Set(known)].join(', ') || 'none'}; \`echelon clusters label\` sets them`;
  return { field: '/clusterLabels', message: `${whose} ${asked.join(' and ')}; ${hint}` };
}
