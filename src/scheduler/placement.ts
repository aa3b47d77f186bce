import {
  type Amount,
  EPSILON,
  type FreeNode,
  fits,
  labelled,
  type NodeLabels,
  type NodeSize,
} from './nodes.ts';

/*
 * On which nodes an experiment runs. An experiment with GPUs has the same number of them on each of its nodes, and beside
 * them one CPU for each GPU: there its GPU workers run. Its other CPUs, of environments and of the trainer's process, may be
 * on any nodes of the cluster. An experiment without GPUs has all its CPUs on one node: if possible on one without GPUs, so
 * that no free GPU lacks a CPU because of it. Every node that an experiment takes anything of has the labels that it asks for.
 */

/**
 * What an experiment asks for. `gpus` and `cpus`: of all its nodes together. `nodes`: those with GPUs; Default: 1. `nodeLabels`:
 * of each of its nodes; absent: any node.
 */
export interface Need extends Amount {
  nodes?: number;
  nodeLabels?: NodeLabels;
  /** When its work would be saved, in ms since 1970. Absent: not known. */
  savesBy?: number;
}

/** What an experiment needs on each of its nodes, and the CPUs that it needs besides, on any node. */
interface Shape {
  nodes: number;
  each: Amount;
  anywhere: number;
}

/** The part of an experiment that runs on one node. */
export interface Part extends Amount {
  node: FreeNode;
}

/** What a spec asks for. Default: one node, any labels. */
export function needOf({ gpus, cpus, nodes = 1, nodeLabels = {} }: Need): Need {
  const some = Object.keys(nodeLabels).length > 0;
  return { gpus: gpus * nodes, cpus, nodes, ...(some && { nodeLabels }) };
}

/** The shape of a need. */
export function shapeOf({ gpus, cpus, nodes = 1 }: Need): Shape {
  if (gpus <= 0) return { nodes: 1, each: { gpus: 0, cpus }, anywhere: 0 };
  const each = { gpus: gpus / nodes, cpus: Math.min(gpus, cpus) / nodes };
  return { nodes, each, anywhere: Math.max(0, cpus - gpus) };
}

/**
 * Where an experiment runs, those parts first that have GPUs; undefined: the nodes have no room. One node with room for
 * everything is best. Of several nodes, the fullest are best, so that large free nodes stay whole. `roomOf`: what the
 * experiment may take of a node. Default: what is free there.
 */
export function placeOn(
  need: Need,
  all: readonly FreeNode[],
  roomOf: (node: FreeNode) => Amount = free,
): Part[] | undefined {
  const nodes = labelled(all, need);
  const { nodes: count, each, anywhere } = shapeOf(need);
  if (count === 1) {
    const node = fullest(need, nodes, roomOf);
    if (node !== undefined) return [{ node, gpus: need.gpus, cpus: need.cpus }];
    if (anywhere === 0) return undefined;
  }
  const parts: Part[] = [];
  for (let rest = nodes; parts.length < count; ) {
    const node = fullest(each, rest, roomOf);
    if (node === undefined) return undefined;
    parts.push({ node, ...each });
    rest = rest.filter((other) => other !== node);
  }
  return addCpus(parts, anywhere, nodes, roomOf);
}

/** Whether an experiment without GPUs would run on a node with GPUs. */
export function takesGpuNode({ gpus }: Amount, parts: readonly Part[]): boolean {
  return gpus <= 0 && parts.some(({ node }) => node.gpusTotal > 0);
}

/** Whether the nodes would have room if they were empty. */
export function couldFit(need: Need, nodes: readonly NodeSize[]): boolean {
  const empty = nodes.map(({ id, gpusTotal, cpusTotal, labels }) => ({
    id,
    gpusTotal,
    cpusTotal,
    labels,
    gpus: gpusTotal,
    cpus: cpusTotal,
    allocations: [],
  }));
  return placeOn(need, empty) !== undefined;
}

function free(node: FreeNode): Amount {
  return node;
}

/** The fullest node that has room; without a need for GPUs, nodes without GPUs come first. Ties go to the lower id. */
function fullest(
  need: Amount,
  nodes: readonly FreeNode[],
  roomOf: (node: FreeNode) => Amount,
): FreeNode | undefined {
  let best: FreeNode | undefined;
  for (const node of nodes) {
    if (!fits(need, roomOf(node))) continue;
    if (best === undefined || isBetter(node, best, need)) best = node;
  }
  return best;
}

function isBetter(a: FreeNode, b: FreeNode, need: Amount): boolean {
  const [aHasGpus, bHasGpus] = [a.gpusTotal > 0, b.gpusTotal > 0];
  if (need.gpus <= 0 && aHasGpus !== bHasGpus) return bHasGpus;
  if (a.gpus !== b.gpus) return a.gpus < b.gpus;
  return a.cpus !== b.cpus ? a.cpus < b.cpus : a.id < b.id;
}

interface Spare {
  node: FreeNode;
  part: Part | undefined;
  /** Whole CPUs: each process must fit in one part. */
  cpus: number;
  /** GPUs that stay free there; a later experiment needs one CPU for each. */
  gpus: number;
}

/**
 * Adds CPUs to the parts, and parts on further nodes: first beside the GPUs, then where most CPUs are free. A CPU that a
 * free GPU needs is taken last.
 */
function addCpus(
  parts: Part[],
  cpus: number,
  nodes: readonly FreeNode[],
  roomOf: (node: FreeNode) => Amount,
): Part[] | undefined {
  let left = cpus;
  if (left <= EPSILON) return parts;
  const spares = nodes.map((node): Spare => {
    const part = parts.find((one) => one.node === node);
    const [room, gpus] = [roomOf(node).cpus - (part?.cpus ?? 0), node.gpus - (part?.gpus ?? 0)];
    return { node, part, cpus: Math.floor(room + EPSILON), gpus: Math.ceil(gpus - EPSILON) };
  });
  spares.sort(byUse);
  for (const forGpus of [false, true])
    for (const spare of spares) {
      const taken = Math.min(left, forGpus ? spare.cpus : spare.cpus - spare.gpus);
      if (taken <= EPSILON) continue;
      if (spare.part === undefined) {
        spare.part = { node: spare.node, gpus: 0, cpus: 0 };
        parts.push(spare.part);
      }
      spare.part.cpus += taken;
      spare.cpus -= taken;
      left -= taken;
    }
  return left > EPSILON ? undefined : parts;
}

function byUse(a: Spare, b: Spare): number {
  if ((a.part === undefined) !== (b.part === undefined)) return a.part === undefined ? 1 : -1;
  return b.cpus - b.gpus - (a.cpus - a.gpus) || (a.node.id < b.node.id ? -1 : 1);
}
