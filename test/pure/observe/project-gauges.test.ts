import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { createProjectGauges } from '../../../src/observe/store-gauges.ts';

test('shows what projects hold, and forgets those that are gone', async () => {
  const registry = new Registry();
  const show = createProjectGauges(registry);
  const one = {
    name: 'a',
    gpusHeld: 3,
    gpuQuota: 8,
    weight: 2,
    share: 0.25,
    paused: true,
    storeBytes: 5,
    storeLimitBytes: 9,
  };
  show([one, { ...one, name: 'b', gpuQuota: null, paused: false, storeLimitBytes: null }]);
  const text = await registry.metrics();
  for (const line of [
    'echelon_project_gpus{project="a",kind="allocated"} 3',
    'echelon_project_gpus{project="a",kind="quota"} 8',
    'echelon_project_gpus{project="b",kind="allocated"} 3',
    'echelon_project_store_bytes{project="a",kind="stored"} 5',
    'echelon_project_store_bytes{project="a",kind="limit"} 9',
    'echelon_project_store_bytes{project="b",kind="stored"} 5',
    'echelon_project_share{project="a"} 0.25',
    'echelon_project_weight{project="a"} 2',
    'echelon_project_paused{project="a"} 1',
    'echelon_project_paused{project="b"} 0',
  ])
    assert.ok(text.includes(`${line}\n`), line);
  assert.ok(!text.includes('project="b",kind="quota"'));
  assert.ok(!text.includes('project="b",kind="limit"'));
  show([]);
  assert.ok(!(await registry.metrics()).includes('project="a"'));
});
