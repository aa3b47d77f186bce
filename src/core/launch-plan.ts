/** Maximum number of files in a spec. */
export const MAX_FILES = 200;
/** Maximum number of bytes of all files in a spec. */
export const MAX_FILE_BYTES = 131_072;

/** GPUs and CPUs of one node that are allocated to an attempt. `id`: as Ray names the node. */
export interface AllocatedNode {
  readonly id: string;
  readonly gpus: number;
  readonly cpus: number;
}

/**
 * What a ray-worker runs for one attempt: `python -m module arguments…`. `{attemptDir}`, `{experimentDir}` and
 * `{sharedRoot}` in an argument or a variable are replaced on the cluster.
 */
export interface LaunchPlan {
  readonly engine: string;
  readonly module: string;
  readonly arguments: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly gpus: number;
  readonly cpus: number;
  /** Between SIGTERM and SIGKILL. */
  readonly gracePeriodMs: number;
  /** Written into the attempt's directory before the driver starts; keys are plain file names. */
  readonly files: Readonly<Record<string, Uint8Array | string>>;
  /** Variables that get their values on the cluster, from the secrets of these names; absent: none. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** The nodes on which it must run, those with GPUs first; absent: any. */
  readonly nodes?: readonly AllocatedNode[];
}
