import { type Fields, json } from '../redis/fields.ts';
import type { Attempt } from './types.ts';

/** The attempts of an experiment, in order, from the hash `<attempt>:<field>`. */
export function toAttempts(fields: Fields): Attempt[] {
  const attempts = new Map<number, Attempt>();
  for (const [key, value] of Object.entries(fields)) {
    const colon = key.indexOf(':');
    const number = Number(key.slice(0, colon));
    const attempt = attempts.get(number) ?? {
      attempt: number,
      cluster: '',
      claimedAt: 0,
      confirmedAt: null,
      lastSequence: 0,
      ended: null,
    };
    attempts.set(number, attempt);
    const field = key.slice(colon + 1);
    if (field === 'cluster') attempt.cluster = value;
    else if (field === 'claimedAt') attempt.claimedAt = Number(value);
    else if (field === 'confirmedAt') attempt.confirmedAt = Number(value);
    else if (field === 'last') attempt.lastSequence = Number(value);
    else if (field === 'ended') attempt.ended = json(value) as Attempt['ended'];
  }
  return [...attempts.values()].sort((a, b) => a.attempt - b.attempt);
}
