/** The seed of a test's random choices: `ECHELON_SEED`, or another one in each run. The test prints it. */
export function newSeed(): number {
  return Number(process.env.ECHELON_SEED ?? Date.now() % 1_000_000);
}

/** A generator of whole numbers from 0 up to a bound, so that a seed gives the same choices again. */
export function createRandom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
