/** Figures of a GPU, as its node last said them; null: not known. */
export interface GpuHealth {
  /** Its index on the node. */
  gpu: string;
  model: string;
  utilizationPercent: number | null;
  memoryPercent: number | null;
  temperatureCelsius: number | null;
  /** Code of its last Xid; 0: none. */
  xid: number | null;
  /** Uncorrectable ones since the driver was loaded. */
  eccErrors: number | null;
  /** Faults of the hardware, in words, after which it must be reset or replaced. */
  faults: string[];
}

/** Figures of a node; null: not known. */
export interface NodeHealth {
  cpuPercent: number | null;
  memoryPercent: number | null;
  gpus: GpuHealth[];
}

/** The faults of the GPUs of a node, in words. */
export function faultsIn(health: NodeHealth | undefined): string[] {
  return (health?.gpus ?? []).flatMap(({ gpu, faults }) => faults.map((fault) => `GPU ${gpu}: ${fault}`));
}
