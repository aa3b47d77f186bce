import { counted } from 'command-kit/plural';
import type { Answer } from 'echelon-client/calls';
import { shortNode } from 'echelon-client/short-node';
import { now as serverNow } from '../app/server-clock.ts';
import { clock, count, duration, inert } from '../models/words.ts';

type WhatIf = Answer<'post', '/v1/queues/what-if'>;
type Outcome = WhatIf['after'];

/** Experiments of a list of delays; the rest is counted. */
const SHOWN = 5;

/** When an experiment would start, and which experiments would start at another time. */
export function WhatIfAnswer({ found }: { found: WhatIf }) {
  const { before, after, later, earlier, shifts, isWhole, examined } = found;
  const now = serverNow();
  return (
    <div class="what-if">
      <p class="outcome-line">{startInWords(after, now)}</p>
      {before !== null && <p class="muted">As it is: {startInWords(before, now).toLowerCase()}</p>}
      {after.waitReason !== null && <p class="muted">Why not now: {inert(after.waitReason)}.</p>}
      <p>
        {later === 0
          ? 'No queued experiment would start later.'
          : `${counted(later, 'queued experiment')} would start later.`}
        {earlier > 0 && ` ${count(earlier)} would start earlier.`}
      </p>
      {shifts.length > 0 && (
        <ul class="shifts" aria-label="Experiments that would start at another time">
          {shifts.slice(0, SHOWN).map(({ experiment, name, from, to }) => (
            <li key={experiment}>
              <a href={`/experiments/${experiment}`}>{inert(name)}</a>{' '}
              <span class="muted">
                {to === null
                  ? `${clock(from.startAt, now)} → not known`
                  : `${clock(from.startAt, now)} → ${clock(to.startAt, now)}, ${moved(to.startAt - from.startAt)}`}
              </span>
            </li>
          ))}
          {shifts.length > SHOWN && <li class="muted">and {count(shifts.length - SHOWN)} more</li>}
        </ul>
      )}
      {!isWhole && (
        <p class="muted">The first {counted(examined, 'queued experiment')} were examined, not all.</p>
      )}
    </div>
  );
}

const moved = (ms: number) => (ms > 0 ? `${duration(ms)} later` : `${duration(-ms)} earlier`);

function startInWords({ startsNow, estimate, noEstimate, position, place }: Outcome, now: number): string {
  if (startsNow) return 'It would start now.';
  const rank = position === null ? '' : ` at position ${position}`;
  if (estimate === null) return `It would wait${rank}; the start is not known: ${inert(noEstimate ?? '')}.`;
  const { startAt, earliest, latest } = estimate;
  const where = place === null ? '' : ` on ${place.nodes.map(shortNode).join(', ')}`;
  const range = earliest === latest ? '' : `, between ${clock(earliest, now)} and ${clock(latest, now)}`;
  return `It would start in about ${duration(startAt - now)}${rank}${where}: at ${clock(startAt, now)}${range}.`;
}
