import type { ExperimentSpec } from '../../src/engines/registry.ts';
import { resolveSpec } from '../../src/plan/resolve-spec.ts';
import type { Store } from '../../src/store/store.ts';
import { running, submitInput } from './store.ts';

/** The checkpoint directory that {@link recordTraining} reports. */
export const DIRECTORY = 'qwen2.5_1.5b_alfworld_train/k4_hgpo-0123456789';

const TRAINING = {
  engine: 'verl-agent',
  name: 'training',
  recipe: 'qwen2.5_1.5b_alfworld_train',
  resources: { gpus: 4 },
} as const;

/** How {@link recordTraining} records one. */
export interface TrainingOptions {
  spec?: Partial<ExperimentSpec>;
  project?: string;
  /** Of its only checkpoint; 0: none. Default: 80. */
  step?: number;
  /** Whether it still runs. */
  runs?: boolean;
}

/** Records a training on the cluster `local` as its driver reports it; returns its id. */
export async function recordTraining(
  store: Store,
  { spec = {}, project = 'default', step = 80, runs = false }: TrainingOptions = {},
): Promise<string> {
  const { spec: resolved } = resolveSpec({ ...TRAINING, ...spec } as ExperimentSpec, { customCode: true });
  const lease = await running(store, { input: submitInput({ resolved, project }) });
  if (step > 0) {
    const event = {
      type: 'checkpoint',
      step,
      path: `../../checkpoints/${DIRECTORY}/global_step_${step}`,
    } as const;
    await store.events.append(lease, [{ sequence: 1, at: 1, event }]);
  }
  if (!runs) await store.attempts.end(lease, { to: 'succeeded', reason: 'exit code 0' });
  return lease.experiment;
}
