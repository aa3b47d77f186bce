/** One launch that is under way. */
export interface LaunchUnderWay {
  /** Whether no other launch on the cluster was under way at any time since this one began. */
  isAlone(): boolean;
  end(): void;
}

/**
 * The launches of this dispatcher that are under way, by cluster. A ray-worker that is lost during several launches may
 * be lost because of any of them: only a launch that was alone can be charged.
 */
export interface Launches {
  begin(cluster: string): LaunchUnderWay;
}

/** See {@link Launches}. */
export function createLaunches(): Launches {
  const underWay = new Map<string, Set<{ alone: boolean }>>();
  return {
    begin(cluster) {
      const others = underWay.get(cluster) ?? new Set();
      underWay.set(cluster, others);
      const mark = { alone: others.size === 0 };
      for (const other of others) other.alone = false;
      others.add(mark);
      return {
        isAlone: () => mark.alone,
        end: () => void others.delete(mark),
      };
    },
  };
}
