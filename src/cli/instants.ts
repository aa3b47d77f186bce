import { secondsOf } from 'command-kit/arguments';
import { InvalidArgumentError } from 'commander';
import type { Client } from './client.ts';

/** A time that a user gave: in ms since 1970, or so many ms before now. */
export type GivenTime = { at: number } | { agoMs: number };

const FORM =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,3})\d*)?)?(Z|[+-]\d\d:\d\d)?)?$/i;

/** A parser of options: `90min`, `12h`, `7d`, or a date with or without a time, in UTC unless it states its offset. */
export function givenTime(text: string): GivenTime {
  const ago = secondsOf(text);
  if (ago !== undefined) return { agoMs: ago * 1000 };
  const at = dateOf(text);
  if (at !== undefined && at >= 0) return { at };
  throw new InvalidArgumentError(
    'It must be 90min, 12h, 7d, a date such as 2026-11-21, or a time such as 2026-11-21T14:30 (UTC) or 2026-11-21T14:30+01:00.',
  );
}

/** The time of a date of the calendar in ms since 1970; undefined for every other text. */
function dateOf(text: string): number | undefined {
  const [, ...parts] = FORM.exec(text) ?? [];
  const [year, month, day, hour = '00', minute = '00', second = '00', fraction = '0', offset = 'Z'] = parts;
  if (year === undefined) return undefined;
  const wall = `${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction.padEnd(3, '0')}Z`;
  const at = Date.parse(wall);
  // A reader of dates takes the 30th of February for the 2nd of March.
  if (Number.isNaN(at) || new Date(at).toISOString() !== wall) return undefined;
  const [sign, hours, minutes] = [
    offset[0] === '-' ? -1 : 1,
    Number(offset.slice(1, 3)),
    Number(offset.slice(4)),
  ];
  if (hours > 23 || minutes > 59) return undefined;
  return at - sign * (hours * 60 + minutes) * 60_000;
}

/** A given time in ms since 1970. "Ago" is before the time of the API's server: its clock made the recorded times. */
export async function instantOf(time: GivenTime, client: Client): Promise<number> {
  return 'at' in time ? time.at : (await client.serverTime()) - time.agoMs;
}
