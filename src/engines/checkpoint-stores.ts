import { BlockList, isIP } from 'node:net';
import type { FieldProblem } from '../core/errors.ts';
import { escapePointer } from '../schemas/json.ts';
import { DEFAULT_PROJECT } from '../schemas/project.ts';
import { maySee } from './secret-projects.ts';

/** The object stores that specs may name on a cluster, by URL, each with these projects (`*`: every project). */
export type CheckpointStores = Readonly<Record<string, readonly string[]>>;

/** A spec as far as it names a store; null: none. */
interface NamesStore {
  checkpointStore?: { url: string } | null;
  project?: string;
}

/** Problems of a spec that names a store which its project may not use on every cluster that may run it. */
export function checkpointStoreProblems(
  { checkpointStore, project = DEFAULT_PROJECT }: NamesStore,
  clusters: readonly CheckpointStores[],
): FieldProblem[] {
  if (!checkpointStore) return [];
  const { url } = checkpointStore;
  if (clusters.every((stores) => isListed(url, project, stores))) return [];
  return [
    {
      field: '/checkpointStore/url',
      message: `is not below an object store that the project ${project} may use on every cluster that may run the experiment; name one of checkpointStores of the cluster, or ask an administrator for PATCH /v1/clusters/NAME with {"checkpointStores": {URL: ["${project}"]}}`,
    },
  ];
}

/** Problems of an operator's list: URLs that say one thing twice, and addresses that give away the rights of a machine. */
export function listedStoreProblems(stores: CheckpointStores): FieldProblem[] {
  return Object.keys(stores).flatMap((url): FieldProblem[] => {
    const field = `/checkpointStores/${escapePointer(url)}`;
    const parts = partsOf(url);
    if (parts === undefined) return [{ field, message: 'states a parameter twice; remove one of the two' }];
    const host = (parts.parameters.get('endpoint_override') ?? '').replace(/:\d+$/, '');
    if (!isMetadata(host)) return [];
    return [{ field, message: `names ${host}, which answers with credentials of a machine; name the store` }];
  });
}

function isListed(url: string, project: string, stores: CheckpointStores): boolean {
  return Object.entries(stores).some(
    ([listed, projects]) => maySee(project, projects) && isSameOrBelow(url, listed),
  );
}

/** Whether a URL is a listed one or below it, with exactly its parameters. */
function isSameOrBelow(url: string, listed: string): boolean {
  const [one, other] = [partsOf(url), partsOf(listed)];
  if (one === undefined || other === undefined) return false;
  const sameParameters =
    one.parameters.size === other.parameters.size &&
    [...other.parameters].every(([name, value]) => one.parameters.get(name) === value);
  return sameParameters && other.path.every((part, at) => one.path[at] === part);
}

/** Scheme, bucket and names of the prefix, and the parameters; undefined if a parameter stands there twice. */
function partsOf(url: string): { path: string[]; parameters: Map<string, string> } | undefined {
  const [place = '', query = ''] = url.split('?');
  const path = place.split('/').filter((part) => part !== '');
  if (path.includes('..') || path.includes('.')) return undefined;
  const pairs = query === '' ? [] : query.split('&').map((pair) => pair.split('=') as [string, string]);
  const parameters = new Map(pairs);
  return parameters.size === pairs.length ? { path, parameters } : undefined;
}

const METADATA = new BlockList();
METADATA.addSubnet('169.254.0.0', 16, 'ipv4');
METADATA.addAddress('100.100.100.200', 'ipv4');
METADATA.addSubnet('fe80::', 10, 'ipv6');
METADATA.addAddress('fd00:ec2::254', 'ipv6');

/** Whether a host gives credentials of the machine that asks. The ray-worker checks the addresses of names. */
function isMetadata(host: string): boolean {
  const version = isIP(host);
  if (version === 0) return /^metadata(\.google\.internal)?\.?$/i.test(host);
  return METADATA.check(host, version === 4 ? 'ipv4' : 'ipv6');
}
