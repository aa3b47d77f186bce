import { missingFrom, type Tree, valueAt } from '../../core/trees.ts';
import type { CheckFinding } from '../engine.ts';
import { checkExperiment } from './checks.ts';
import { compileVerlAgent, faithfulOverrides, type VerlAgentPlan } from './compile.ts';
import { OWNED_KEYS } from './fields.ts';
import { recipeOf, SCRIPT_ENVIRONMENT } from './recipes.ts';
import { resolveVerlAgent } from './resolve.ts';
import type { RecipeName, VerlAgentSpec } from './spec.ts';

/** A recipe as its script runs it: nothing added, corrected or filled in. */
interface FaithfulPlan {
  recipe: RecipeName;
  faithful: true;
  program: string;
  /** `key=value` in the script's order; placeholders such as `{home}` stand as they are. */
  overrides: string[];
  environment: Record<string, string>;
  /** What the script runs first, to make the data files. */
  dataPreparation: { program: string; arguments: string[] };
  corrections: [];
}

/** A recipe as it is run here. */
type CorrectedPlan = VerlAgentPlan & { faithful: false; checks: CheckFinding[] };

/** What the recipe's script passes, to the letter. */
export function faithfulPlan(name: RecipeName): FaithfulPlan {
  const recipe = recipeOf(name);
  return {
    recipe: name,
    faithful: true,
    program: recipe.program,
    overrides: faithfulOverrides(recipe),
    environment: { ...SCRIPT_ENVIRONMENT },
    dataPreparation: {
      program: 'examples.data_preprocess.prepare',
      arguments: [
        '--mode',
        'text',
        '--train_data_size',
        String(recipe.trainRows),
        '--val_data_size',
        String(recipe.validationRows),
      ],
    },
    corrections: [],
  };
}

/** The recipe with its corrections; an evaluation is one of the recipe's own training with its defaults. */
export function correctedPlan(name: RecipeName): CorrectedPlan {
  const spec = recipeSpec(name);
  const resolved = resolveVerlAgent(spec);
  const checks = checkExperiment({
    spec: resolved,
    defaults: missingFrom(spec, resolved as unknown as Tree),
  });
  return { faithful: false, ...compileVerlAgent(resolved), checks };
}

/** The smallest spec of a recipe. */
export function recipeSpec(name: RecipeName): VerlAgentSpec {
  const spec: VerlAgentSpec = { name, engine: 'verl-agent', recipe: name };
  if (recipeOf(name).phase === 'train') return spec;
  const training = recipeSpec(name.replace(/_eval$/, '_train') as RecipeName);
  const { checkpointDirectory } = compileVerlAgent(resolveVerlAgent(training));
  return { ...spec, evaluation: { checkpoint: { directory: checkpointDirectory } } };
}

/** The typed fields of a recipe's spec: the keys of the configuration that each sets, and its default. */
export function recipeFields(name: RecipeName): { field: string; keys: string[]; value: unknown }[] {
  const resolved = resolveVerlAgent(recipeSpec(name));
  const byField = Map.groupBy(OWNED_KEYS, ([, field]) => field);
  return [...byField]
    .map(([field, pairs]) => ({
      field,
      keys: pairs.map(([key]) => key),
      value: valueAt(resolved, field.slice(1).replaceAll('/', '.')) ?? null,
    }))
    .sort((left, right) => (left.field < right.field ? -1 : 1));
}
