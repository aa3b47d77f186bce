/** An attempt after the first, by its batches. */
export interface Restart {
  attempt: number;
  /** The first step of which the attempt has a batch. */
  step: number;
  /** Steps of which an earlier attempt has a batch too. */
  repeated: number;
}

/** The restarts that the batches of an experiment show, in order. */
export function restartsOf(batches: readonly { attempt: number; step: number }[]): Restart[] {
  const attempts = new Map<number, number[]>();
  for (const { attempt, step } of batches) {
    const steps = attempts.get(attempt);
    if (steps === undefined) attempts.set(attempt, [step]);
    else steps.push(step);
  }
  const [first, ...later] = [...attempts].sort(([a], [b]) => a - b);
  const before = new Set(first?.[1]);
  return later.map(([attempt, steps]) => {
    const repeated = steps.filter((step) => before.has(step)).length;
    for (const step of steps) before.add(step);
    return { attempt, step: Math.min(...steps), repeated };
  });
}

/** A restart in words. */
export const restartInWords = ({ attempt, step, repeated }: Restart): string =>
  `attempt ${attempt} starts at step ${step}` +
  (repeated === 0 ? '' : `, ${repeated} ${repeated === 1 ? 'step' : 'steps'} trained again`);
