import { wholeNumber } from 'command-kit/arguments';
import { inert } from 'command-kit/inert';
import { table } from 'command-kit/table';
import type { GamePage } from 'echelon-client/calls';
import { csvLine, GAME_COLUMNS, gameCells } from 'echelon-client/csv';
import { EXPERIMENT, row } from '../row.ts';

type Evaluation = GamePage['items'][number];

const games = row({
  name: 'games',
  description:
    'Show every game of the last evaluation of an experiment: success, score, steps and invalid steps of each replicate.',
  arguments: [EXPERIMENT],
  options: [
    ['--step <step>', 'the evaluation of this step', wholeNumber(0, 1e10)],
    ['--csv', 'print the games of all evaluations, or of that step, as CSV'],
  ],
  examples: [
    'echelon games exp-00cz8h3k7n2q4r5s6t7v',
    'echelon games exp-00cz8h3k7n2q4r5s6t7v --csv > games.csv',
  ],
  verb: 'get',
  path: '/v1/experiments/{id}/games',
  pages: 20,
  input: ({ step }: { step?: number; csv?: boolean }) => ({ query: { step } }),
  json: ({ items }) => ({ items }),
  print({ items }, { width, csv }) {
    if (csv) return [csvLine(HEAD), ...items.flatMap(csvLines)].join('\n');
    const last = items.at(-1);
    if (last === undefined) return 'No evaluation has recorded its games.';
    // An evaluation of many games is several events in a row.
    const { step, attempt } = last;
    const parts = items.filter((one) => one.step === step && one.attempt === attempt);
    const played = parts.flatMap((one) => one.games);
    const rows = played.map((one) => [...gameCells({ ...one, game: inert(one.game) })]);
    return `${panelInWords(last)}\n${table(['GAME', 'REPLICATE', 'SUCCESS', 'SCORE', 'STEPS', 'INVALID'], rows, width)}\n${successInWords(played, last.digest)}`;
  },
});

/** Each game counts equally: of a sampled panel some were drawn several times, and others never. */
function successInWords(played: Evaluation['games'], digest: string): string {
  const games = new Map<string, number[]>();
  for (const { game, success } of played) games.set(game, [...(games.get(game) ?? []), success]);
  const shares = [...games.values()].map((some) => some.reduce((sum, one) => sum + one, 0) / some.length);
  const success = shares.reduce((sum, one) => sum + one, 0) / shares.length;
  const drawn = digest === '' ? `, over ${games.size} different games in ${played.length} draws` : '';
  return `success ${(100 * success).toFixed(1)} %${drawn}`;
}

function panelInWords({ step, panel, digest, decoding }: Evaluation): string {
  const known =
    digest === ''
      ? 'sampled panel: its games were drawn, so it cannot enter a comparison'
      : `digest ${digest.slice(0, 12)}`;
  const settings = Object.entries(decoding).map(([name, value]) => `, ${name} ${value}`);
  return inert(`step ${step}, panel ${panel} (${known})${settings.join('')}`);
}

const HEAD = ['attempt', 'step', 'panel', 'digest', ...GAME_COLUMNS];

function csvLines({ attempt, step, panel, digest, games }: Evaluation): string[] {
  return games.map((one) => csvLine([attempt, step, panel, digest, ...gameCells(one)]));
}

/** The commands of this module by their names. */
export const commands = { games };
