import type { FieldProblem } from '../../core/errors.ts';
import { merge, type Tree } from '../../core/trees.ts';
import type { NamedCheckpoint, TrainedSettings } from '../engine.ts';
import { gpusOf } from './cpus.ts';
import { recipeOf } from './recipes.ts';
import type { ResolvedVerlAgent, VerlAgentSpec } from './spec.ts';

/** See `Engine.trained`. */
export function trainedSettings(spec: ResolvedVerlAgent, path: string): TrainedSettings | string {
  if (recipeOf(spec.recipe).phase === 'eval') return 'is an evaluation; name its training';
  if (spec.training.saveEvery === 0) return 'saves no checkpoints: its training.saveEvery is 0';
  const { home, env, model, resources, rollout } = spec;
  return {
    // The driver knows the directory even if an older version has named it.
    directory: path.split('/').slice(-3, -1).join('/'),
    home,
    env: env ?? {},
    model: { path: model.path, loraRank: model.loraRank, loraAlpha: model.loraAlpha },
    resources: { nodes: resources.nodes ?? 1, gpus: resources.gpus },
    tensorParallelSize: rollout.tensorParallelSize,
  };
}

/** The evaluation of a training that the spec named. */
export function completeEvaluation(
  spec: VerlAgentSpec,
  training: NamedCheckpoint,
): VerlAgentSpec | FieldProblem {
  const { directory, step, cluster, home, env, model, resources, tensorParallelSize } = training;
  const shared = {
    cluster,
    env,
    model,
    resources,
    rollout: { tensorParallelSize },
    ...(home !== null && { home }),
  };
  const evaluation = { ...spec.evaluation, checkpoint: { directory, step } };
  const completed = merge(shared, { ...spec, evaluation } as Tree) as unknown as VerlAgentSpec;
  const [trained, asked] = [gpusOf(resources), gpusOf(completed.resources as typeof resources)];
  if (asked === trained) return completed;
  const message = `must give ${trained} GPUs in all, as the training had, and gives ${asked}; remove resources.gpus and resources.nodes`;
  return { field: '/resources', message };
}
