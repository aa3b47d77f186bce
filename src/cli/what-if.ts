import { inert } from 'command-kit/inert';
import { counted } from 'command-kit/plural';
import { table } from 'command-kit/table';
import type { WhatIf } from 'echelon-client/calls';
import { shortNode } from 'echelon-client/short-node';
import { duration, startsIn } from './states.ts';

/** When an experiment would start, and which experiments it would delay, in words. `now`: ms since 1970. */
export function whatIfText(
  { before, after, later, earlier, shifts }: WhatIf,
  now: number,
  width?: number | undefined,
): string {
  const lines = [`Would start ${startOf(after, now)}.`];
  if (before !== null) lines.push(`Without the change: ${startOf(before, now)}.`);
  if (after.waitReason !== null) lines.push(inert(after.waitReason));
  lines.push('', `${counted(later, 'queued experiment')} would start later, ${earlier} earlier.`);
  const rows = shifts.map(({ experiment, name, project, from, to }) => [
    experiment,
    inert(name),
    inert(project),
    duration(from.startAt - now),
    to === null ? '?' : duration(to.startAt - now),
  ]);
  if (rows.length > 0)
    lines.push(table(['ID', 'NAME', 'PROJECT', 'STARTS IN', 'WOULD START IN'], rows, width));
  return lines.join('\n');
}

function startOf({ startsNow, position, estimate, noEstimate, place }: WhatIf['after'], now: number): string {
  if (startsNow) return 'now';
  const rank = position === null ? '' : `, at position ${position}`;
  if (estimate === null) return `at an unknown time${rank}: ${inert(noEstimate ?? '')}`;
  const where = place === null ? '' : `, on ${place.cluster} ${place.nodes.map(shortNode).join(', ')}`;
  return `in ${startsIn(estimate, now)}${rank}${where}`;
}
