/** Explanations and identifications of steps as text. */

import { inert } from 'command-kit/inert';
import { significant } from 'command-kit/number';
import type { StepIdentification } from '../identify/steps/identify-step.ts';
import type { ChainLine, TokenExplanation } from './explain-step.ts';

/** The explanation of a token as lines of text, ending in a newline. */
export function formatToken(e: TokenExplanation): string {
  const broken = e.breaks === null ? '' : `, broken at the stage ${e.breaks}`;
  const place = [
    `micro-batch ${e.microBatch}`,
    ...(e.group === null ? [] : [`group ${e.group}`]),
    ...(e.trajectory === null ? [] : [`trajectory ${e.trajectory}`]),
  ];
  const lines = [
    `Token ${e.token} of row ${e.row} of ${e.batch} is ${e.outcome.toUpperCase()}${broken}`,
    `  ${place.join(', ')}`,
    '',
    row(['stage', 'expected', 'may be off by', 'reported', '']),
    ...e.lines.map(chainLine),
    ...(e.causes.length > 0 ? ['', ...e.causes.map((cause) => `Likely cause: ${cause}.`)] : []),
  ];
  return `${lines.map((line) => inert(line.trimEnd())).join('\n')}\n`;
}

/** Stages whose numbers have a factor that says something; ids, flags and sides have none. */
const WITH_FACTOR: readonly ChainLine['stage'][] = ['ratio', 'weight', 'loss', 'kl', 'gradient'];

function chainLine({ stage, title, value, error, reported, outcome, note }: ChainLine): string {
  const mark = outcome === 'wrong' ? 'WRONG' : (outcome ?? '');
  const hasFactor = outcome === 'wrong' && WITH_FACTOR.includes(stage) && value !== null && value !== 0;
  const factor = hasFactor && reported !== null ? reported / value : 0;
  const times = Number.isFinite(factor) && factor !== 0 ? `${significant(factor, 6)} times the expected` : '';
  const text = [mark, times, note].filter((part) => part !== '').join(', ');
  return row([title, show(value), show(error, 3), show(reported), text]);
}

const WIDTHS = [16, 17, 15, 17];

function row([stage = '', value = '', error = '', reported = '', note = '']: readonly string[]): string {
  const cells = [stage.padEnd(WIDTHS[0]!), value.padEnd(WIDTHS[1]!), error.padEnd(WIDTHS[2]!)];
  return `  ${cells.join('')}${reported.padEnd(WIDTHS[3]!)}${note}`;
}

const show = (value: number | null, digits = 9): string => (value === null ? '' : significant(value, digits));

/** An identification as lines of text, ending in a newline. */
export function formatIdentification(found: StepIdentification): string {
  const lines = [found.name, ...gradientLines(found), ...found.clues.map((clue) => `  ${clue}`)];
  return `${lines.map(inert).join('\n')}\n`;
}

function gradientLines({
  tokens,
  statedExplains,
  lacks,
  explanations,
  separate,
}: StepIdentification): string[] {
  if (tokens > 0 && statedExplains === tokens)
    return [`  the stated arithmetic explains all ${tokens} gradient coefficients`];
  const head =
    statedExplains === null
      ? `  the stated arithmetic cannot be compared: it needs ${lacks.join(', ')}`
      : `  the stated arithmetic explains ${statedExplains} of ${tokens} gradient coefficients`;
  if (explanations.length === 0)
    return [head, ...(statedExplains === null ? [] : ['  no known change explains all of them'])];
  const fits = explanations.map((changes) => `    ${changes.join(', and ')}`);
  const title =
    explanations.length === 1 ? '  this explains all of them:' : '  each of these explains all of them:';
  return [head, title, ...fits, ...(separate === null ? [] : [`  ${separate}`])];
}
