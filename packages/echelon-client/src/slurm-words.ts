import type { Answer } from './calls.ts';

type Slurm = NonNullable<Answer<'get', '/v1/clusters'>['items'][number]['slurm']>;

/** For example "node in Slurm: job 4711 pending Resources, expected 14:20 UTC", or "… running until 18:00 UTC". */
export function jobWords({ job, role, state, reason, startsAt, endsAt }: Slurm['jobs'][number]): string {
  const isRunning = state === 'RUNNING';
  const at = isRunning ? endsAt : startsAt;
  const when = at === null ? '' : isRunning ? ` until ${clock(at)}` : `, expected ${clock(at)}`;
  const words = [`${role} in Slurm: job ${job ?? 'not known yet'}`, state.toLowerCase(), reason];
  return words.filter(Boolean).join(' ') + when;
}

/** What is wrong with Slurm, and until when it is asked for nothing; null: nothing is wrong. */
export function problemWords({ problem, waitsUntil }: Pick<Slurm, 'problem' | 'waitsUntil'>): string | null {
  if (problem === null) return null;
  return waitsUntil === null ? problem : `${problem}; asked again at ${clock(waitsUntil)}`;
}

const clock = (at: number): string => `${new Date(at).toISOString().slice(11, 16)} UTC`;
