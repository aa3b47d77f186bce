import { setTimeout as delay } from 'node:timers/promises';
import { styleText } from 'node:util';
import { inert } from 'command-kit/inert';
import type { LiveBlock } from 'command-kit/live-block';
import type { Output } from 'command-kit/output';
import type { ExperimentDetail } from 'echelon-client/calls';
import { isFinal } from '../../core/states.ts';
import type { Client } from '../client.ts';
import { retrying } from '../retrying.ts';
import { coloredStatus, duration, NO_REASON, startsIn, successRate } from '../states.ts';

/** Time between two polls. */
const POLL_MS = 1_000;
const BAR_WIDTH = 24;

/** The step that an experiment had reached at a time, in ms since 1970. */
interface Mark {
  at: number;
  step: number;
}

/** Shows the progress of an experiment in a block that is overwritten, until it has ended and is verified. */
export async function watchLive(options: {
  client: Client;
  id: string;
  output: Output;
  block: LiveBlock;
  pollMs?: number;
}): Promise<void> {
  const { client, id, output, block, pollMs = POLL_MS } = options;
  const poll = retrying(() => client.get('/v1/experiments/{id}', { path: { id } }), { output });
  let first: (Mark & { attempt: number }) | undefined;
  for (;;) {
    const experiment = await poll();
    const now = client.now();
    const { attempt, progress, state, verification } = experiment;
    // Another attempt may continue from an earlier step, and at another pace.
    if (first?.attempt !== attempt) first = { attempt, at: now, step: progress.step };
    block.show(liveLines(experiment, first, now));
    if (isFinal(state) && verification.status === 'complete') return;
    await delay(pollMs);
  }
}

/** The block: name and state; bar, step and expected end; success rate and verified rows. `first` is the first poll. */
export function liveLines(experiment: ExperimentDetail, first: Mark, now: number): string[] {
  const { name, state, reason, progress, verification: checked, startedAt, endedAt } = experiment;
  const took = startedAt === null ? '' : `  ${duration((endedAt ?? now) - startedAt)}`;
  const head = `${styleText('bold', inert(name))}  ${coloredStatus(experiment)}${took}`;
  if (state === 'queued') return [head, `  ${queueLine(experiment, now)}`];
  const wrong = `${checked.wrong} wrong`;
  const rows = `rows verified ${checked.rowsVerified}/${checked.rowsSeen}, ${checked.wrong > 0 ? styleText('red', wrong) : wrong}`;
  return [
    head,
    `  ${bar(progress)}${state === 'running' ? remaining(experiment, first, now) : ''}`,
    `  success ${successRate(experiment)} | ${rows}`,
    `  ${inert(state === 'running' ? progress.stage || reason : reason)}`,
  ];
}

function queueLine({ position, waitReason, estimate }: ExperimentDetail, now: number): string {
  const place = position === null ? '' : `position ${position.rank} of ${position.length}: `;
  const start = estimate === null ? '' : `; starts in ${startsIn(estimate, now)}`;
  return `${place}${inert(waitReason ?? NO_REASON)}${start}`;
}

function bar({ step, steps }: ExperimentDetail['progress']): string {
  if (steps === 0) return 'no step yet';
  const full = Math.round(BAR_WIDTH * Math.min(1, step / steps));
  return `[${'█'.repeat(full)}${'░'.repeat(BAR_WIDTH - full)}] step ${step} of ${steps}`;
}

/** The remaining time by the pace since the first poll, or since the start if no step has passed since. */
function remaining({ progress, startedAt }: ExperimentDetail, first: Mark, now: number): string {
  const { step, steps } = progress;
  const since = step > first.step ? first : { at: startedAt ?? now, step: 0 };
  if (step <= since.step || step >= steps) return '';
  return `, ${duration(((now - since.at) / (step - since.step)) * (steps - step))} left`;
}
