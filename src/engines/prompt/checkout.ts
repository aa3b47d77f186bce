import type { CompiledSpec } from '../engine.ts';
import { launchOf } from '../verl-agent/compile.ts';
import { resolveVerlAgent } from '../verl-agent/resolve.ts';
import type { ResolvedVerlAgent } from '../verl-agent/spec.ts';
import type { ResolvedPrompt } from './spec.ts';

type Played = Pick<ResolvedPrompt, 'name' | 'environment' | 'evaluation'>;

/**
 * The evaluation of verl-agent's recipe whose environments are played: an evaluation of a base model, of which only the
 * environments are made. The size of the recipe's model changes nothing of them.
 */
function evaluationOf({ name, environment, evaluation }: Played): ResolvedVerlAgent {
  const { name: played, ...settings } = environment;
  const { games, rounds, split } = evaluation;
  return resolveVerlAgent({
    engine: 'verl-agent',
    name,
    recipe: `qwen2.5_1.5b_${played as 'alfworld' | 'webshop'}_eval`,
    resources: { nodes: 1, gpus: 0 },
    environment: settings,
    evaluation: {
      games,
      rounds,
      baseModel: true,
      ...(split === undefined ? {} : { split: split as 'seen' | 'unseen' }),
    },
  });
}

/** That evaluation with its plan, as the verl-agent engine takes them. */
export function checkoutPlan(played: Played): Required<CompiledSpec> {
  const spec = evaluationOf(played);
  const { arguments: overrides, plan } = launchOf(spec);
  return { arguments: overrides, plan: { evaluation: { spec, plan } } };
}

/** The CPUs of its environments, and one for the driver. */
export function checkoutCpus(played: Played): number {
  return evaluationOf(played).resources.cpus;
}
