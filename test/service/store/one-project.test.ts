import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { makeChild } from '../../../src/plan/sweep.ts';
import { makeProjects } from '../../support/access.ts';
import { appFor, REPLAY } from '../../support/http-app.ts';
import { storeFor } from '../../support/store.ts';

const CHILDREN = 2000;
/** A fifth of what full specs of all children would take. */
const MAX_BYTES = 64 * 1024 * 1024;

const { store, redis } = await storeFor({ after }, { limits: { pressureMaxAgeMs: 0 } });
const { call } = await appFor({ after }, { store });

/** 80 kB of variables that every caller may set. */
const VARIABLES = Object.fromEntries(
  [
    'HF_HOME',
    'WANDB_NOTES',
    'WANDB_TAGS',
    'WANDB_NAME',
    'WANDB_PROJECT',
    'WANDB_ENTITY',
    'WANDB_MODE',
  ].flatMap((name) => [
    [name, 'x'.repeat(4000)],
    [`MY_${name}`, 'y'.repeat(4000)],
    [`YOUR_${name}`, 'z'.repeat(4000)],
  ]),
);

/* Each child that stored its spec whole would take 160 kB. */
test('a large sweep with 80 kB of variables is stored small, and another project still submits', async () => {
  await redis.config('SET', 'maxmemory', String(MAX_BYTES));
  await makeProjects(store, 'a', 'b');
  const { usedBytes: before } = await store.pressure();
  const spec = { ...REPLAY, project: 'a', env: VARIABLES };
  const axes = { '/replay/batches': Array.from({ length: CHILDREN }, (_child, at) => at + 1) };
  const body = { name: 'large', method: 'list', spec, axes };
  const accepted = await call('POST', '/v1/sweeps', { body });
  assert.equal(accepted.statusCode, 202, accepted.body);
  const { id } = accepted.json();
  let made = 0;
  for (let more = true; more; ) {
    const step = await store.sweeps.expand(id, makeChild);
    made += step.made.length;
    more = step.more;
  }
  assert.equal(made, CHILDREN);
  const { usedBytes, projectBytes } = await store.pressure();
  const added = usedBytes - before;
  const counted = (await store.projects.storedBytes()).get('a')!;
  assert.ok(counted < projectBytes, `${counted} of ${projectBytes}`);
  // The count resembles the memory: neither half nor twice as much.
  assert.ok(counted > added / 2 && counted < 2 * added, `${counted} counted, ${added} used`);

  const other = await call('POST', '/v1/experiments', { body: { ...REPLAY, project: 'b' } });
  assert.equal(other.statusCode, 202, other.body);
  const shown = (await call('GET', '/v1/projects/a')).json();
  assert.deepEqual([shown.storeBytes, shown.storeLimitBytes], [counted, MAX_BYTES / 2]);
});
