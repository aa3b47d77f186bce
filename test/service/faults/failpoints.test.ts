import { describe, test } from 'node:test';
import { TOGETHER, tryFailpoint } from '../../support/failpoint-world.ts';
import { COMMITS, FAULTS } from '../../support/failpoints.ts';
import { createRandom, newSeed } from '../../support/random.ts';

/** Each fault twice. */
const TRIED = 8;
const seed = newSeed();
const random = createRandom(seed);
const shuffled = COMMITS.map((commit) => ({ commit, at: random(1_000_000) })).sort((a, b) => a.at - b.at);

// failpoints.full.test.ts tries every fault at every commit.
describe('a fault at a commit of a dispatcher keeps every guarantee', { concurrency: TOGETHER }, () => {
  for (const [index, { commit }] of shuffled.slice(0, TRIED).entries()) {
    const fault = FAULTS[index % FAULTS.length]!;
    test(`${fault}: ${commit}`, { timeout: 120_000 }, async (t) => {
      t.diagnostic(`ECHELON_SEED=${seed}`);
      await tryFailpoint({ commit, fault }, t);
    });
  }
});
