import type { GamePage } from 'echelon-client/calls';

type Game = GamePage['items'][number]['games'][number];

/** A game as the columns {@link GAME_COLUMNS}, in tables and in CSV. */
export const gameCells = (one: Game): [string, number, number, number, number, number] => [
  one.game,
  one.replicate,
  one.success,
  one.score,
  one.steps,
  one.invalidSteps,
];

export const GAME_COLUMNS = ['game', 'replicate', 'success', 'score', 'steps', 'invalid_steps'];
