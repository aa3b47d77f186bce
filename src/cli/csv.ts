import type { GamePage } from 'echelon-client/calls';

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

export const GAME_COLUMNS = ['game', 'replicate', 'success', 'score', 'steps', 'invalid_steps'];
