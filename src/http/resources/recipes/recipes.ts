import { nearestName } from 'command-kit/nearest';
import { EchelonError } from '../../../core/errors.ts';
import type { RecipeSummary } from '../../../engines/engine.ts';
import { allRecipes, recipesWith } from '../../../engines/registry.ts';
import { commandLine } from '../../../plan/command-line.ts';
import { Text } from '../../../schemas/answer-parts.ts';
import { StrictObject } from '../../../schemas/objects.ts';
import type { App } from '../../server/deps.ts';
import { route } from '../../server/route.ts';

const RecipeParams = StrictObject({ name: Text('Name of the recipe.') });

/** GET /v1/recipes and one of them. */
export function addRecipes(app: App): void {
  route(app, {
    at: 'GET /v1/recipes',
    operationId: 'listRecipes',
    summary: 'List the recipes of verl-agent',
    tag: 'recipes',
    answer: 'RecipeList',
    handler: async () => ({ items: allRecipes().map(summaryOf) }),
  });

  route(app, {
    at: 'GET /v1/recipes/:name',
    operationId: 'getRecipe',
    concurrency: 'digest',
    summary: 'Get a recipe: its script, its plan and the fields of its spec',
    tag: 'recipes',
    params: RecipeParams,
    answer: 'Recipe',
    problems: ['not-found'],
    handler: async (request) => detailOf(request.params.name),
  });
}

function notFound(name: string): EchelonError {
  const names = allRecipes().map((recipe) => recipe.name);
  const near = nearestName(name.slice(0, 100), names);
  const hint = near === undefined ? `There are ${names.join(', ')}.` : `Did you mean ${near}?`;
  return new EchelonError('not-found', `There is no recipe of that name. ${hint}`);
}

function summaryOf({ name, modelSize, environment, phase, gpus }: RecipeSummary) {
  return { name, modelSize, environment, phase, gpus };
}

/** Throws EchelonError `not-found`, with the nearest name. */
function detailOf(name: string) {
  const recipes = recipesWith(name);
  if (recipes === undefined) throw notFound(name);
  const { dataPreparation, ...faithful } = recipes.faithful(name);
  const corrected = recipes.corrected(name);
  return {
    ...summaryOf(recipes.all.find((recipe) => recipe.name === name)!),
    faithful: { ...commandOf(faithful), dataPreparation },
    corrected: { ...commandOf(corrected), corrections: corrected.corrections, checks: corrected.checks },
    spec: recipes.spec(name),
    fields: recipes.fields(name),
  };
}

function commandOf(plan: { program: string; overrides: string[]; environment: Record<string, string> }) {
  const { program, overrides, environment } = plan;
  const line = commandLine({ module: program, arguments: overrides, environment });
  return { program, overrides, environment, commandLine: line };
}
