import { Type } from 'typebox';
import { EchelonError } from '../../../core/errors.ts';
import { nearestName } from '../../../core/nearest.ts';
import { valueAt } from '../../../core/trees.ts';
import { OWNED_KEYS } from '../../../engines/verl-agent/fields.ts';
import { correctedPlan, faithfulPlan, recipeSpec } from '../../../engines/verl-agent/recipe-plan.ts';
import type { RecipeDetail } from '../../../engines/verl-agent/recipe-schemas.ts';
import { RECIPES, type Recipe } from '../../../engines/verl-agent/recipes.ts';
import { resolveVerlAgent } from '../../../engines/verl-agent/resolve.ts';
import type { RecipeName } from '../../../engines/verl-agent/spec.ts';
import { commandLine } from '../../../plan/command-line.ts';
import { strict } from '../../../schemas/strict.ts';
import type { App } from '../../server/deps.ts';
import { READ } from '../../server/policy.ts';
import { problems } from '../../server/responses.ts';

const RecipeParams = Type.Object({ name: Type.String({ description: 'Name of the recipe.' }) }, strict);

/** GET /v1/recipes and one of them. */
export function addRecipes(app: App): void {
  app.get(
    '/v1/recipes',
    {
      config: { policy: READ },
      schema: {
        operationId: 'listRecipes',
        summary: 'List the recipes of verl-agent',
        tags: ['recipes'],
        response: { 200: { $ref: 'RecipeList#' }, ...problems() },
      },
    },
    async () => ({ items: RECIPES.map(summaryOf) }),
  );

  app.get(
    '/v1/recipes/:name',
    {
      config: { policy: { ...READ, concurrency: 'digest' } },
      schema: {
        operationId: 'getRecipe',
        summary: 'Get a recipe: its script, its plan and the fields of its spec',
        tags: ['recipes'],
        params: RecipeParams,
        response: { 200: { $ref: 'Recipe#' }, ...problems('not-found') },
      },
    },
    async (request) => detailOf(recipeNamed(request.params.name)),
  );
}

function recipeNamed(name: string): Recipe {
  const found = RECIPES.find((recipe) => recipe.name === name);
  if (found) return found;
  const names = RECIPES.map((recipe) => recipe.name);
  const near = nearestName(name.slice(0, 100), names);
  const hint = near === undefined ? `There are ${names.join(', ')}.` : `Did you mean ${near}?`;
  throw new EchelonError('not-found', `There is no recipe of that name. ${hint}`);
}

function summaryOf({ name, modelSize, environment, phase, gpus }: Recipe) {
  return { name, modelSize, environment, phase, gpus };
}

function detailOf(recipe: Recipe): RecipeDetail {
  const { dataPreparation, ...faithful } = faithfulPlan(recipe.name);
  const corrected = correctedPlan(recipe.name);
  return {
    ...summaryOf(recipe),
    faithful: { ...commandOf(faithful), dataPreparation },
    corrected: { ...commandOf(corrected), corrections: corrected.corrections, checks: corrected.checks },
    spec: recipeSpec(recipe.name),
    fields: fieldsOf(recipe.name),
  };
}

function commandOf(plan: { program: string; overrides: string[]; environment: Record<string, string> }) {
  const { program, overrides, environment } = plan;
  const line = commandLine({ module: program, arguments: overrides, environment });
  return { program, overrides, environment, commandLine: line };
}

/** The typed fields of a recipe's spec: what each sets in the configuration, and its default. */
function fieldsOf(name: RecipeName): RecipeDetail['fields'] {
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
