import { QUARANTINE_AFTER } from '../../core/states.ts';
import type { Crash } from '../../store/attempts/contract.ts';

/** Why an experiment is in quarantine. */
export interface Quarantine {
  reason: string;
  /** Taking the attempt over ended dispatchers: its events must not be read any more. */
  unreadable: boolean;
}

/** The quarantine that follows from `crashes`; null: none. */
export function quarantineOf(crashes: readonly Crash[]): Quarantine | null {
  const launches = crashes.filter(({ during }) => during === 'launch');
  const takeovers = crashes.filter(({ during }) => during === 'takeover');
  const unreadable = takeovers.length >= QUARANTINE_AFTER;
  if (!unreadable && launches.length < QUARANTINE_AFTER) return null;
  const charged = unreadable ? takeovers : launches;
  const evidence = charged.map(({ at, attempt, dispatcher, during }) => {
    const what = during === 'launch' ? 'launched' : 'took over';
    return `dispatcher ${dispatcher} was lost as it ${what} attempt ${attempt} (${new Date(at).toISOString()})`;
  });
  const unread = unreadable ? '; its events since then were not read' : '';
  return {
    reason: `quarantined after ${charged.length} crashes: ${evidence.join('; ')}${unread}`,
    unreadable,
  };
}
