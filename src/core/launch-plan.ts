/** Maximum number of files in a spec. */
export const MAX_FILES = 200;
/** Maximum number of bytes of all files in a spec. */
export const MAX_FILE_BYTES = 131_072;

/**
 * Version of what drivers read in the files of a launch plan. Raise it, here and in `echelon_rayworker/launch.py`, when a driver
 * of the version before could not read the files, or would misread them.
 */
export const SPEC_VERSION = 1;

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

/** A checkpoint in an object store. `manifest`: SHA-256 (hex) of its manifest. */
export interface StoredCheckpoint {
  readonly step: number;
  readonly manifest: string;
}

/** The file of a launch plan with the settings of the checkpoint store (`echelon_rayworker/checkpointstore.py`). */
export const STORE_FILE = 'checkpoint-store.json';
/** The file of a launch plan with the checkpoints that an attempt may download. */
const STORED_FILE = 'stored-checkpoints.json';

/** The plan with the checkpoints that its attempt may download, if it has a store: of each step the last one. */
export function withStored(plan: LaunchPlan, stored: readonly StoredCheckpoint[]): LaunchPlan {
  if (plan.files[STORE_FILE] === undefined) return plan;
  const manifests = Object.fromEntries(stored.map(({ step, manifest }) => [step, manifest]));
  return { ...plan, files: { ...plan.files, [STORED_FILE]: JSON.stringify(manifests) } };
}
