/** Games as CSV: the same columns from the command line and from the dashboard. */
import type { ComparisonGames, GamePage } from './calls.ts';

type Game = GamePage['items'][number]['games'][number];

/** A line of CSV (RFC 4180). A text that a spreadsheet would evaluate gets an apostrophe. */
export function csvLine(cells: readonly (string | number | null)[]): string {
  return cells
    .map((cell) => {
      const text = typeof cell === 'string' && /^[=+@\t\r-]/.test(cell) ? `'${cell}` : String(cell ?? '');
      return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    })
    .join(',');
}

/** A game as the columns {@link GAME_COLUMNS}, in tables and in CSV. */
export const gameCells = (one: Game): [string, number, number, number, number, number] => [
  one.game,
  one.replicate,
  one.success,
  one.score,
  one.steps,
  one.invalidSteps,
];

/** Titles of {@link gameCells}. */
export const GAME_COLUMNS = ['game', 'replicate', 'success', 'score', 'steps', 'invalid_steps'];

/** Every game of a comparison as CSV, from which its result can be recomputed. Its last line has no line break. */
export function comparisonCsv(runs: ComparisonGames['items']): string {
  const lines = runs.flatMap(({ method, seed, experiment, state, games }) =>
    games.map((one) => csvLine([method, seed, ...gameCells(one), experiment, state])),
  );
  return [csvLine(['method', 'seed', ...GAME_COLUMNS, 'experiment', 'state']), ...lines].join('\n');
}
