import type { FieldProblem } from '../../core/errors.ts';
import { recipeOf } from './recipes.ts';
import type { VerlAgentSpec } from './spec.ts';

/** Games of a whole panel: ALFWorld's splits in its data set json_2.1.1, and the goals that no training on WebShop uses. */
const PANEL_GAMES = { seen: 140, unseen: 134, webshop: 500 } as const;

/** What is wrong with the panel of a spec. */
export function panelProblems({ evaluation, recipe }: VerlAgentSpec): FieldProblem[] {
  const { replicates, panel, rounds } = evaluation ?? {};
  const problems: FieldProblem[] = [];
  if (replicates !== undefined && rounds !== undefined)
    problems.push({
      field: '/evaluation/rounds',
      message: 'follows from evaluation.replicates and evaluation.games; remove it',
    });
  if (panel !== undefined && replicates === undefined)
    problems.push({
      field: '/evaluation/panel',
      message: 'needs evaluation.replicates: without it the games are drawn',
    });
  const isWebshop = recipeOf(recipe).environment === 'webshop';
  const other = panel?.find((game) => /^\d{1,7}$/.test(game) !== isWebshop);
  if (other !== undefined)
    problems.push({
      field: '/evaluation/panel',
      message: isWebshop
        ? `has ${other}; goals of WebShop are numbers, such as "17"`
        : `has ${other}; games of ALFWorld are paths below the directory of the split, such as "pick_and_place_simple-Mug-None-Desk-308/trial_T2019"`,
    });
  return problems;
}

/**
 * Environments and rounds that play each game of the panel once per replicate. Default of the environments: the largest equal
 * parts of the panel that the script's number of environments holds. Empty if the games are drawn.
 */
export function panelDefaults(
  { evaluation }: VerlAgentSpec,
  recipe: { environment: 'alfworld' | 'webshop'; isEvaluation: boolean; games: number },
): { games?: number; rounds?: number } {
  if (evaluation?.replicates === undefined) return {};
  const split = evaluation.split ?? (recipe.isEvaluation ? 'unseen' : 'seen');
  const whole = PANEL_GAMES[recipe.environment === 'webshop' ? 'webshop' : split];
  const count = evaluation.panel?.length ?? whole;
  const games = evaluation.games ?? Math.ceil(count / Math.ceil(count / recipe.games));
  return { games, rounds: Math.ceil((count * evaluation.replicates) / games) };
}
