/**
 * Hierarchical grouping of one task group at a time.
 *
 * A row's key at level k is its own observation and the k before it in its trajectory. Level k + 1 therefore
 * refines level k: inside a cluster, members part by the observation k + 1 steps back, and members without one
 * leave. A cluster is kept as a slice of `members`, so a level costs two passes over the rows still in it, by
 * direct addressing into tables as large as the group: no hashing, no sorting, nothing allocated per row, and
 * all of it stays in the first two caches for groups of ordinary size.
 */
export interface Refiner {
  /** Rows of the group that is loaded. Everything below is indexed 0..size-1, trajectories contiguous. */
  size: number;
  /** Position of each row in its trajectory within this group, from 0. */
  readonly depth: Int32Array;
  /** Dense id of each row's observation inside the group. */
  readonly local: Int32Array;
  /** Distinct observations in the group. */
  distinct: number;
  /** The present level's clusters: cluster c is members[starts[c]..starts[c + 1]). */
  members: Int32Array;
  starts: Int32Array;
  clusters: number;
  /** True where clusters of one row are kept, false where they leave with the level they appear at. */
  readonly keepSingles: boolean;
  readonly spareMembers: Int32Array[];
  readonly spareStarts: Int32Array[];
  readonly slotOfObservation: Int32Array;
  readonly slotOfLocal: Int32Array;
  readonly child: Int32Array;
  readonly tally: Int32Array;
  stamp: number;
}

/** Scratch for groups of at most `capacity` rows and observation ids below `observations`. */
export function createRefiner(capacity: number, observations: number, keepSingles: boolean): Refiner {
  return {
    size: 0,
    depth: new Int32Array(capacity),
    local: new Int32Array(capacity),
    distinct: 0,
    members: new Int32Array(capacity),
    starts: new Int32Array(capacity + 1),
    clusters: 0,
    keepSingles,
    spareMembers: [new Int32Array(capacity)],
    spareStarts: [new Int32Array(capacity + 1)],
    slotOfObservation: new Int32Array(observations).fill(-1),
    slotOfLocal: new Int32Array(capacity),
    child: new Int32Array(capacity),
    tally: new Int32Array(capacity + 1),
    stamp: 0,
  };
}

/** The part of a batch that one call loads: positions from..to of the arranged rows are one group. */
export interface GroupSlice {
  readonly trajectory: Int32Array;
  readonly observation: Int32Array;
  readonly order: Int32Array | undefined;
  readonly from: number;
  readonly to: number;
}

/** Loads one group and forms level 0: rows with the same observation. */
export function loadGroup(refiner: Refiner, slice: GroupSlice): void {
  const { depth, local, slotOfObservation, tally } = refiner;
  const { trajectory, observation, order, from, to } = slice;
  const size = to - from;
  const base = refiner.stamp;
  let distinct = 0;
  let run = -1;
  let position = 0;
  for (let i = 0; i < size; i++) {
    const row = order === undefined ? from + i : order[from + i]!;
    const t = trajectory[row]!;
    position = t === run ? position + 1 : 0;
    run = t;
    depth[i] = position;
    // Stamps only grow, so a slot below `base` belongs to an earlier group: nothing is ever cleared.
    const o = observation[row]!;
    let id = slotOfObservation[o]! - base;
    if (id < 0) {
      id = distinct++;
      slotOfObservation[o] = base + id;
      tally[id] = 0;
    }
    local[i] = id;
    tally[id]!++;
  }
  refiner.size = size;
  refiner.distinct = distinct;
  refiner.stamp = base + distinct;
  formFirstLevel(refiner);
}

function formFirstLevel(refiner: Refiner): void {
  const { local, tally, members, starts, size, distinct, keepSingles } = refiner;
  let clusters = 0;
  let end = 0;
  for (let id = 0; id < distinct; id++) {
    const count = tally[id]!;
    if (count === 1 && !keepSingles) {
      tally[id] = -1;
      continue;
    }
    starts[clusters++] = end;
    tally[id] = end;
    end += count;
  }
  starts[clusters] = end;
  for (let i = 0; i < size; i++) {
    const id = local[i]!;
    const at = tally[id]!;
    if (at < 0) continue;
    members[at] = i;
    tally[id] = at + 1;
  }
  refiner.clusters = clusters;
}

/** Replaces the clusters by those of the next level; `level` is the new one, from 1. */
export function refineGroup(refiner: Refiner, level: number): void {
  const { members, starts, clusters, depth, local, slotOfLocal, child, tally, keepSingles } = refiner;
  const nextMembers = refiner.spareMembers[0]!;
  const nextStarts = refiner.spareStarts[0]!;
  slotOfLocal.fill(-1, 0, refiner.distinct);
  let ids = 0;
  let nextClusters = 0;
  let end = 0;
  for (let c = 0; c < clusters; c++) {
    const from = starts[c]!;
    const to = starts[c + 1]!;
    const first = ids;
    for (let j = from; j < to; j++) {
      const i = members[j]!;
      if (depth[i]! < level) {
        child[j] = -1;
        continue;
      }
      const back = local[i - level]!;
      let id = slotOfLocal[back]!;
      // Ids only grow within a level, so a slot below `first` belongs to an earlier parent.
      if (id < first) {
        id = ids++;
        slotOfLocal[back] = id;
        tally[id] = 0;
      }
      child[j] = id;
      tally[id]!++;
    }
    for (let id = first; id < ids; id++) {
      const count = tally[id]!;
      if (count === 1 && !keepSingles) {
        tally[id] = -1;
        continue;
      }
      nextStarts[nextClusters++] = end;
      tally[id] = end;
      end += count;
    }
    for (let j = from; j < to; j++) {
      const id = child[j]!;
      if (id < 0) continue;
      const at = tally[id]!;
      if (at < 0) continue;
      nextMembers[at] = members[j]!;
      tally[id] = at + 1;
    }
  }
  nextStarts[nextClusters] = end;
  refiner.spareMembers[0] = members;
  refiner.spareStarts[0] = starts;
  refiner.members = nextMembers;
  refiner.starts = nextStarts;
  refiner.clusters = nextClusters;
}
