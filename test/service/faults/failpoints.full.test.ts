import { describe, test } from 'node:test';
import { TOGETHER, tryFailpoint } from '../../support/failpoint-world.ts';
import { COMMITS, FAULTS } from '../../support/failpoints.ts';

describe('every fault at every commit of a dispatcher keeps every guarantee', {
  concurrency: TOGETHER,
}, () => {
  for (const commit of COMMITS)
    for (const fault of FAULTS)
      test(`${fault}: ${commit}`, { timeout: 120_000 }, (t) => tryFailpoint({ commit, fault }, t));
});
