import { setTimeout as delay } from 'node:timers/promises';
import pc from 'picocolors';
import { isFinal } from '../../core/states.ts';
import type { ExperimentDetail } from '../../schemas/api.ts';
import type { Client } from '../client.ts';
import type { LiveBlock } from '../live-block.ts';
import { coloredState, duration, inert, type Output, successRate } from '../output.ts';
import { patient } from '../patient.ts';
import { startsIn } from './queue.ts';

/** Time between two looks. */
const LOOK_MS = 1_000;
const BAR_WIDTH = 24;

/** How far an experiment was at a time, in ms since 1970. */
interface Mark {
  at: number;
  step: number;
}

/** Shows where an experiment stands in a block that is written over, until it has ended and is verified. */
export async function watchLive(options: {
  client: Client;
  id: string;
  output: Output;
  block: LiveBlock;
  everyMs?: number;
}): Promise<void> {
  const { client, id, output, block, everyMs = LOOK_MS } = options;
  const path = `/v1/experiments/${encodeURIComponent(id)}`;
  const look = patient(() => client.get<ExperimentDetail>(path), { output });
  let first: (Mark & { attempt: number }) | undefined;
  for (;;) {
    const experiment = await look();
    const now = Date.now();
    const { attempt, progress, state, verification } = experiment;
    // Another attempt may go on from an earlier step, and at another pace.
    if (first?.attempt !== attempt) first = { attempt, at: now, step: progress.step };
    block.show(liveLines(experiment, first, now));
    if (isFinal(state) && verification.status === 'complete') return;
    await delay(everyMs);
  }
}

/** The block: name and state; bar, step and expected end; success and verified rows. `first`: the first look at it. */
export function liveLines(experiment: ExperimentDetail, first: Mark, now: number): string[] {
  const { name, state, reason, progress, verification: checked, startedAt, endedAt } = experiment;
  const took = startedAt === null ? '' : `  ${duration((endedAt ?? now) - startedAt)}`;
  const head = `${pc.bold(inert(name))}  ${coloredState(state)}${took}`;
  if (state === 'queued') return [head, `  ${waiting(experiment, now)}`];
  const wrong = `${checked.wrong} wrong`;
  const rows = `rows verified ${checked.rowsVerified}/${checked.rowsSeen}, ${checked.wrong > 0 ? pc.red(wrong) : wrong}`;
  return [
    head,
    `  ${bar(progress)}${state === 'running' ? remaining(experiment, first, now) : ''}`,
    `  success ${successRate(experiment)} | ${rows}`,
    `  ${inert(state === 'running' ? progress.stage || reason : reason)}`,
  ];
}

function waiting({ position, waitReason, estimate }: ExperimentDetail, now: number): string {
  const place = position === null ? '' : `position ${position.rank} of ${position.length}: `;
  const start = estimate === null ? '' : `; starts in ${startsIn(estimate, now)}`;
  return `${place}${inert(waitReason ?? 'not yet considered')}${start}`;
}

function bar({ step, steps }: ExperimentDetail['progress']): string {
  if (steps === 0) return 'no step yet';
  const full = Math.round(BAR_WIDTH * Math.min(1, step / steps));
  return `[${'█'.repeat(full)}${'░'.repeat(BAR_WIDTH - full)}] step ${step} of ${steps}`;
}

/** From the pace since the first look, or since the start where no step has passed since. */
function remaining({ progress, startedAt }: ExperimentDetail, first: Mark, now: number): string {
  const { step, steps } = progress;
  const since = step > first.step ? first : { at: startedAt ?? now, step: 0 };
  if (step <= since.step || step >= steps) return '';
  return `, ${duration(((now - since.at) / (step - since.step)) * (steps - step))} left`;
}
