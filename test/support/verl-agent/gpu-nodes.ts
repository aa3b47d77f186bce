import { execFileSync } from 'node:child_process';
import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sourceFunction } from 'ray-client-ts/code';
import { connect } from 'ray-client-ts/connect';
import type { RayConnection } from 'ray-client-ts/connection';
import {
  type RayHead,
  rayPython,
  startRayHead,
} from '../../../packages/ray-client-ts/test/support/ray-head.ts';

/** GPUs of each node but the head; their CPUs are just enough for the GPU processes. */
export const GPUS = 4;
const ADDRESSES = ['127.0.0.2', '127.0.0.3', '127.0.0.4'];
/** Labels of the last node. */
export const LABELS = { 'gpu-memory': 'large' };
const STANDIN = 'deploy/ray-worker/tests/standin';

const placed = sourceFunction<() => Record<string, string[]>>(
  `def placed():
    from ray.util import placement_group_table
    groups = placement_group_table()
    return {id: sorted(set(group["bundles_to_node_id"].values())) for id, group in groups.items()}
`,
  'placed',
);

/** A Ray of a head without GPUs and three nodes of 4 logical GPUs, the last with {@link LABELS}, and a checkout whose trainer needs neither GPU nor torch. */
export interface GpuNodes extends AsyncDisposable {
  readonly address: string;
  /** The checkout, for `VERL_AGENT_HOME`. */
  readonly home: string;
  /** Lets the trainings do the steps after their first. */
  go(): Promise<void>;
  /** The ids of the nodes on which Ray has the bundles of a placement group. */
  nodesOf(group: string): Promise<string[]>;
  /** kill -9 of the raylet of the node with this id. */
  killRaylet(node: string): Promise<void>;
}

/** Starts it; `directory` gets the checkout. */
export async function startGpuNodes(directory: string): Promise<GpuNodes> {
  const home = join(directory, 'verl-agent');
  await cp(join(STANDIN, 'verl'), join(home, 'verl'), { recursive: true });
  await cp('test/support/verl-agent/main_hgpo.py', join(home, 'recipe/hgpo/main_hgpo.py'));
  const nodes = ADDRESSES.map((address, at) => ({
    address,
    gpus: GPUS,
    cpus: GPUS,
    ...(at === ADDRESSES.length - 1 && { labels: 'gpu-memory=large' }),
  }));
  const head = await startRayHead({ token: false, numCpus: 12, numGpus: 0, nodes });
  const ray = await connect(head.address, { namespace: 'tests', selfTest: false });
  return {
    address: head.address,
    home,
    go: () => writeFile(join(home, 'go'), ''),
    nodesOf: async (group) => (await ray.call(placed, { timeoutMs: 60_000 }))[group] ?? [],
    killRaylet: (node) => killRaylet(head, ray, node),
    async [Symbol.asyncDispose]() {
      await ray.close();
      await head[Symbol.asyncDispose]();
    },
  };
}

async function killRaylet(head: RayHead, ray: RayConnection, node: string): Promise<void> {
  const known = (await ray.nodes()).find(({ id }) => id === node);
  if (known === undefined) throw new Error(`Ray has no node ${node}`);
  head.killRaylet(known.address);
}

/** Whether Ray's Python has what the engine needs to write its data files: pyarrow. */
export function hasPyarrow(): boolean {
  try {
    execFileSync(rayPython(), ['-c', 'import pyarrow.parquet'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
