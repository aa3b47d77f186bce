import type { RowOrder } from './order.ts';
import type { Spread } from './sets/spread.ts';
import { divisor } from './sets/spread.ts';

/**
 * The hierarchical clusters of one task group at a time, with their means.
 *
 * A row's key at level k is its own observation and the k before it in its trajectory. Level k + 1 therefore
 * refines level k: inside a cluster, members part by the observation k + 1 steps back, and members without one
 * leave. The rows still in play stand cluster by cluster in `member`, so a level is found by direct addressing
 * into tables as large as the group: no hashing, no sorting, nothing allocated per row. The tables are used
 * again from group to group and stay in the first two caches for groups of ordinary size. The loops are flat
 * (over rows, then over clusters) and choose by masks if a branch could not be foreseen: with clusters of two
 * or three rows, a loop per cluster would cost a misprediction each.
 *
 * Clusters that can give no advantage leave at once, since their refinements cannot either: those of one row
 * unless `keepSingles`, those whose values are all equal unless `keepEqual`.
 *
 * Rows are numbered 0..size-1 inside the group, trajectories contiguous and in time order.
 */
export interface ContextLevels {
  readonly keepSingles: boolean;
  readonly keepEqual: boolean;
  /** False if the group holds NaN or an infinity: then no cluster leaves for being equal. */
  finite: boolean;
  size: number;
  /** Distinct observations in the group. */
  distinct: number;
  /** The present level: rows in its clusters, and its clusters. */
  live: number;
  clusters: number;
  /** The live rows, cluster by cluster, and the cluster of each. */
  member: Int32Array;
  cluster: Int32Array;
  /** By cluster: rows, mean of their values. */
  readonly count: Int32Array;
  readonly mean: Float64Array;
  /** By row: position in its trajectory, observation (dense in the group), value, the value's two words. */
  readonly depth: Int32Array;
  readonly local: Int32Array;
  readonly value: Float64Array;
  readonly bits: Int32Array;
  /** The rest is scratch. A child is a cluster of the next level before it is known whether it stays. */
  readonly childOfMember: Int32Array;
  readonly lead: Int32Array;
  readonly differs: Int32Array;
  readonly place: Int32Array;
  readonly clusterOfChild: Int32Array;
  readonly origin: Float64Array;
  spareMember: Int32Array;
  spareCluster: Int32Array;
  readonly slotOfObservation: Int32Array;
  readonly slotOfLocal: Int32Array;
  stamp: number;
}

/** Which clusters stay although they give no advantage. */
export interface Keep {
  readonly keepSingles: boolean;
  readonly keepEqual: boolean;
}

/** Entries behind the last cluster, over which the sums of what leaves are spread: one would be a bottleneck. */
const AWAY = 8;

/** Scratch for groups of at most `capacity` rows and observation ids below `observations`. */
export function createLevels(capacity: number, observations: number, keep: Keep): ContextLevels {
  const ints = (length: number) => new Int32Array(length);
  const value = new Float64Array(capacity);
  return {
    ...keep,
    finite: true,
    size: 0,
    distinct: 0,
    live: 0,
    clusters: 0,
    // The second half takes the rows that leave, so that the scatter needs no branch.
    member: ints(2 * capacity),
    cluster: ints(2 * capacity),
    spareMember: ints(2 * capacity),
    spareCluster: ints(2 * capacity),
    count: ints(capacity + AWAY),
    mean: new Float64Array(capacity + AWAY),
    origin: new Float64Array(capacity + AWAY),
    lead: ints(capacity + AWAY),
    differs: ints(capacity + AWAY),
    place: ints(capacity + AWAY),
    clusterOfChild: ints(capacity + AWAY),
    depth: ints(capacity),
    local: ints(capacity),
    value,
    bits: new Int32Array(value.buffer),
    childOfMember: ints(capacity),
    slotOfObservation: ints(observations).fill(-1),
    slotOfLocal: ints(capacity),
    stamp: 0,
  };
}

/** The part of a batch that one call loads: positions from..to of the arranged rows are one group. */
export interface GroupSlice {
  readonly trajectory: Int32Array;
  readonly observation: Int32Array;
  /** What the clusters' means are of, one per row of the batch. */
  readonly values: Float64Array;
  readonly order: RowOrder['order'];
  readonly from: number;
  readonly to: number;
}

/** Group `g` of the arranged rows, with `values` for its clusters' means. */
export function groupSlice(
  { trajectory, observation }: Pick<GroupSlice, 'trajectory' | 'observation'>,
  values: Float64Array,
  { order, starts }: Pick<RowOrder, 'order' | 'starts'>,
  g: number,
): GroupSlice {
  return { trajectory, observation, values, order, from: starts[g]!, to: starts[g + 1]! };
}

/** Loads one group and forms level 0: rows with the same observation. */
export function loadGroup(levels: ContextLevels, slice: GroupSlice): void {
  const { depth, local, value, bits, slotOfObservation, count, lead, differs, childOfMember, member } =
    levels;
  const { trajectory, observation, values, order, from, to } = slice;
  const size = to - from;
  const base = levels.stamp;
  let children = 0;
  let run = -1;
  let position = 0;
  let finite = 0;
  for (let i = 0; i < size; i++) {
    const row = order === undefined ? from + i : order[from + i]!;
    const t = trajectory[row]!;
    position = t === run ? position + 1 : 0;
    run = t;
    depth[i] = position;
    const v = values[row]!;
    value[i] = v;
    finite += v * 0;
    // Stamps only grow, so a slot below `base` belongs to an earlier group: nothing is ever cleared.
    const o = observation[row]!;
    let child = slotOfObservation[o]! - base;
    if (child < 0) {
      child = children++;
      slotOfObservation[o] = base + child;
      count[child] = 0;
      lead[child] = i;
      differs[child] = 0;
    }
    local[i] = child;
    childOfMember[i] = child;
    member[i] = i;
    count[child]!++;
    const first = 2 * lead[child]!;
    differs[child]! |= (bits[2 * i]! ^ bits[first]!) | (bits[2 * i + 1]! ^ bits[first + 1]!);
  }
  levels.size = size;
  levels.distinct = children;
  levels.stamp = base + children;
  levels.live = size;
  levels.finite = finite === 0;
  arrange(levels, children);
}

/** Replaces the clusters by those of the next level; `level` is the new one, from 1. */
export function refineGroup(levels: ContextLevels, level: number): void {
  const { member, cluster, depth, local, slotOfLocal, childOfMember, count, lead, differs, bits } = levels;
  const { live, size } = levels;
  slotOfLocal.fill(-1, 0, levels.distinct);
  let children = 0;
  let parent = -1;
  let floor = 0;
  for (let j = 0; j < live; j++) {
    const i = member[j]!;
    const c = cluster[j]!;
    // With a new parent: floor = children. Children are numbered upwards, so a slot below `floor` belongs to an
    // earlier parent and counts as empty.
    const moved = c ^ parent;
    floor ^= (floor ^ children) & ((moved | -moved) >> 31);
    parent = c;
    if (depth[i]! < level) {
      childOfMember[j] = size;
      continue;
    }
    const back = local[i - level]!;
    const known = slotOfLocal[back]!;
    // All ones if the slot is empty: a new child, led by this row.
    const fresh = (known - floor) >> 31;
    const child = known ^ ((known ^ children) & fresh);
    children -= fresh;
    slotOfLocal[back] = child;
    const first = (lead[child]! & ~fresh) | (i & fresh);
    lead[child] = first;
    childOfMember[j] = child;
    count[child] = (count[child]! & ~fresh) + 1;
    const unlike = (bits[2 * i]! ^ bits[2 * first]!) | (bits[2 * i + 1]! ^ bits[2 * first + 1]!);
    differs[child] = (differs[child]! & ~fresh) | unlike;
  }
  arrange(levels, children);
}

/** Numbers the children that stay, moves their rows together, and sums them up on the way. */
function arrange(levels: ContextLevels, children: number): void {
  const { member, childOfMember, spareMember, spareCluster, place, clusterOfChild, origin, mean, value } =
    levels;
  const { live, size } = levels;
  const end = numberChildren(levels, children);
  place[size] = size;
  clusterOfChild[size] = size;
  for (let j = 0; j < live; j++) {
    const i = member[j]!;
    const child = childOfMember[j]!;
    const at = place[child]!;
    const c = clusterOfChild[child]!;
    place[child] = at + 1;
    spareMember[at] = i;
    spareCluster[at] = c;
    // Relative to a member, so that equal values leave exactly their value as mean.
    mean[c]! += value[i]! - origin[c]!;
  }
  levels.spareMember = member;
  levels.spareCluster = levels.cluster;
  levels.member = spareMember;
  levels.cluster = spareCluster;
  levels.live = end;
  const { count, clusters } = levels;
  for (let c = 0; c < clusters; c++) mean[c] = origin[c]! + mean[c]! / count[c]!;
  if (!levels.finite) plainMeans(levels);
}

/** Gives each child that stays a cluster number and a place, and sends the others behind the last row. */
function numberChildren(levels: ContextLevels, children: number): number {
  const { count, lead, differs, place, clusterOfChild, mean, origin, value, size } = levels;
  const smallest = levels.keepSingles ? 1 : 2;
  const equalStays = levels.keepEqual || !levels.finite ? -1 : 0;
  let end = 0;
  let clusters = 0;
  for (let child = 0; child < children; child++) {
    const n = count[child]!;
    const unlike = differs[child]!;
    const stays = ~((n - smallest) >> 31) & (((unlike | -unlike) >> 31) | equalStays);
    place[child] = (end & stays) | (size & ~stays);
    clusterOfChild[child] = (clusters & stays) | ((size + (child & (AWAY - 1))) & ~stays);
    // Written in any case, and again by the next child if this one leaves.
    count[clusters] = n;
    origin[clusters] = value[lead[child]!]!;
    mean[clusters] = 0;
    end += n & stays;
    clusters -= stays;
  }
  levels.clusters = clusters;
  return end;
}

/**
 * With infinities the difference from a member depends on which. Σ / n, as IEEE arithmetic has it, does not, and
 * takes its place in the clusters concerned.
 */
function plainMeans(levels: ContextLevels): void {
  const { member, cluster, value, mean, origin, count, live, clusters } = levels;
  const marked = origin;
  for (let c = 0; c < clusters; c++) {
    marked[c] = Number.isFinite(mean[c]!) ? 0 : 1;
    if (marked[c] === 1) mean[c] = 0;
  }
  for (let j = 0; j < live; j++) if (marked[cluster[j]!] === 1) mean[cluster[j]!]! += value[member[j]!]!;
  for (let c = 0; c < clusters; c++) if (marked[c] === 1) mean[c]! /= count[c]!;
}

/** Fills `by`: what the centred values of each of the present clusters are divided by. */
export function measureClusters(levels: ContextLevels, spread: Spread, by: Float64Array): void {
  const { member, cluster, value, mean, count, live, clusters } = levels;
  by.fill(0, 0, clusters);
  for (let j = 0; j < live; j++) {
    const c = cluster[j]!;
    const off = value[member[j]!]! - mean[c]!;
    by[c]! += off * off;
  }
  // Without squares all values are the mean: any divisor gives 0, and 0 / (0 + ε) must not fail for ε = 0.
  for (let c = 0; c < clusters; c++) by[c] = by[c] === 0 ? 1 : divisor(spread, by[c]!, count[c]!);
}
