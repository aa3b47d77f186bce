import { describe, test } from 'node:test';
import { TOGETHER, tryFailpoint } from '../../support/failpoint-world.ts';
import { COMMITS, FAULTS } from '../../support/failpoints.ts';

// test/system/full/failpoints.test.ts tries every fault at every commit.
describe('a fault at a commit of a dispatcher keeps every guarantee', { concurrency: TOGETHER }, () => {
  for (const [index, commit] of COMMITS.entries()) {
    const fault = FAULTS[index % FAULTS.length]!;
    test(`${fault}: ${commit}`, { timeout: 120_000 }, (t) => tryFailpoint({ commit, fault }, t));
  }
});
