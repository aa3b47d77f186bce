import { plural } from 'echelon-verify/text/plural';
import type { ResolvedSpec } from '../../../engines/registry.ts';
import { couldFit, needOf } from '../../../scheduler/placement.ts';
import { isWanted } from '../../../scheduler/schedule.ts';
import { tooLarge } from '../../../scheduler/wait-reasons.ts';
import { canonicalJson } from '../../../schemas/json.ts';
import type { Cluster } from '../../../store/clusters/contract.ts';

/** What of a resolved spec decides on which nodes it can run. */
export type Need = Pick<ResolvedSpec['spec'], 'cluster' | 'clusterLabels' | 'resources'>;

/**
 * Why the nodes of no cluster that it asks for are large enough for an experiment; null if those of one are, or if the nodes
 * of one are not known yet. It would stay queued until a larger node joins.
 */
export function neverFits(
  { cluster, clusterLabels, resources }: Need,
  clusters: readonly Cluster[],
): string | null {
  const item = { cluster, labels: clusterLabels, ...needOf(resources) };
  const wanted = clusters.filter((one) => isWanted(item, { name: one.name, labels: one.labels ?? {} }));
  if (wanted.length === 0 || wanted.some(({ nodes }) => nodes.length === 0)) return null;
  if (wanted.some(({ nodes }) => couldFit(item, nodes))) return null;
  return tooLarge(item, wanted);
}

/** Counts what the children of a sweep need, to say which of them no node is large enough for. */
export function createFitCheck() {
  const needs = new Map<string, { need: Need; children: number }>();
  return {
    add({ cluster, clusterLabels, resources }: Need): void {
      const need = { cluster, clusterLabels, resources };
      const key = canonicalJson(need);
      const known = needs.get(key) ?? { need, children: 0 };
      known.children += 1;
      needs.set(key, known);
    },
    /** One sentence for each kind of child that would stay queued. */
    warnings(clusters: readonly Cluster[]): string[] {
      return [...needs.values()].flatMap(({ need, children }) => {
        const reason = neverFits(need, clusters);
        return reason === null ? [] : [`${plural(children, 'child', 'children')} ${reason}.`];
      });
    },
  };
}
