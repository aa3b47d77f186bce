/** What a batch offers to learn from, as plain JSON. */

/** How much of the spread of the step returns inside groups the clusters of a key explain. */
export interface KeyStrength {
  readonly key: string;
  readonly clusters: number;
  /** 1 − squares within clusters / squares within groups; null without spread. */
  readonly explained: number | null;
  /** {@link explained} less what as many clusters explain by chance. Negative: less than that. */
  readonly adjusted: number | null;
  /** 95 % of shuffled keys explain between these, by a normal approximation. */
  readonly byChance: readonly [low: number, high: number] | null;
}

/** Describes the signal; it does not predict success. Shares are of all rows. */
export interface SignalDescription {
  readonly batch: string;
  readonly rows: number;
  readonly keys: readonly KeyStrength[];
  /** Share of the pairs in clusters of one observation whose last three observations differ; null without pairs. */
  readonly contextInconsistency: number | null;
  /**
   * How far the mean return of rows with one context is from that of all rows with their observation: root mean square over rows
   * whose context another row has, in deviations of the observation's cluster, less what chance gives. Null without such rows.
   */
  readonly contextBias: number | null;
  /** Mean size of the cluster of a row. */
  readonly clusterSize: number;
  /** Mean over rows of 1 / Σ (share of a trajectory in the cluster)². */
  readonly effectiveTrajectories: number;
  readonly shares: {
    readonly advantageZero: number | null;
    readonly alone: number;
    /** All rewards of the group are equal before penalties. */
    readonly groupWithoutSpread: number | null;
    /** As that, yet the reported advantage is not 0. */
    readonly penaltyOnly: number | null;
    /** No step of the group reaches the goal; null without next observations. */
    readonly groupWithoutGoal: number | null;
  };
}
