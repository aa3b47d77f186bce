import type { RecipeSummary, Recipes } from './engine.ts';
import { allEngines, type ExperimentSpec } from './registry.ts';

/** The recipes of all engines. */
export function allRecipes(): RecipeSummary[] {
  return allEngines().flatMap(({ recipes }) => recipes?.all ?? []);
}

/** The recipes that the recipe of this name belongs to; undefined if no engine has it. */
export function recipesWith(name: string): Recipes<ExperimentSpec> | undefined {
  return allEngines()
    .map(({ recipes }) => recipes)
    .find((recipes) => recipes?.all.some((recipe) => recipe.name === name));
}
