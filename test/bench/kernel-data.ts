import type { StepColumns } from 'echelon-verify/kernel/index';

/** What the estimators take, in memory that threads can share. */
export interface BenchBatch {
  readonly steps: StepColumns;
  readonly stepReturn: Float64Array;
  readonly reward: Float64Array;
  readonly actionValid: Uint8Array;
}

const TRAJECTORIES = 8;
const STEPS = 50;
const STATES = 60;

/**
 * A batch of the shape of an ALFWorld training step, any number of times over: groups of 8 trajectories of 50
 * steps that wander over 60 states of their group; half of them win 10 at the end, 5 % of the actions are
 * invalid. The same batch for the same number of rows. Ids are dense by first appearance, rows stand by
 * trajectory.
 */
export function benchBatch(rows: number): BenchBatch {
  const ints = () => new Int32Array(new SharedArrayBuffer(4 * rows));
  const steps = { rows, group: ints(), trajectory: ints(), observation: ints() };
  const stepReturn = new Float64Array(new SharedArrayBuffer(8 * rows));
  const reward = new Float64Array(rows);
  const actionValid = new Uint8Array(rows).fill(1);
  const random = createRandom(1);
  const ids = new Int32Array(STATES);
  let nextId = 0;
  for (let start = 0; start < rows; start += STEPS) {
    const trajectory = start / STEPS;
    if (trajectory % TRAJECTORIES === 0) ids.fill(-1);
    const end = Math.min(rows, start + STEPS);
    const won = random(2) === 0;
    let state = 0;
    for (let row = start; row < end; row++) {
      steps.group[row] = Math.floor(trajectory / TRAJECTORIES);
      steps.trajectory[row] = trajectory;
      if (ids[state]! < 0) ids[state] = nextId++;
      steps.observation[row] = ids[state]!;
      actionValid[row] = random(20) === 0 ? 0 : 1;
      stepReturn[row] = (won ? 10 * 0.95 ** (end - 1 - row) : 0) - (actionValid[row] === 0 ? 0.1 : 0);
      state = Math.max(0, Math.min(STATES - 1, state + random(4) - 1));
    }
    if (won) reward[end - 1] = 10;
  }
  return { steps, stepReturn, reward, actionValid };
}

/** The batch's observations as texts of `length` bytes, laid end to end. */
export function benchTexts(
  observation: Int32Array,
  length: number,
): { bytes: Uint8Array; offsets: Uint32Array } {
  const bytes = new Uint8Array(observation.length * length);
  const offsets = new Uint32Array(observation.length + 1);
  const filler = Buffer.from(
    'You are in the middle of a room. Looking quickly around you, you see a shelf. '.repeat(20),
  );
  for (let row = 0; row < observation.length; row++) {
    const at = row * length;
    bytes.set(filler.subarray(0, length), at);
    // Texts of one game differ in few places: here in eight letters, somewhere.
    const id = observation[row]!;
    const mark = Buffer.from(id.toString(36).padStart(8, '.'));
    bytes.set(mark, at + ((id * 61) % (length - 8)));
    offsets[row + 1] = at + length;
  }
  return { bytes, offsets };
}

function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return (state >>> 8) % below;
  };
}
