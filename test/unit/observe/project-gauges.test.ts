import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { createProjectGauges } from '../../../src/observe/project-gauges.ts';

test('shows what projects hold, and forgets those that are gone', async () => {
  const registry = new Registry();
  const show = createProjectGauges(registry);
  const one = { name: 'a', gpusHeld: 3, gpuQuota: 8, weight: 2, share: 0.25, paused: true };
  show([one, { ...one, name: 'b', gpuQuota: null, paused: false }]);
  const text = await registry.metrics();
  for (const line of [
    'echelon_project_gpus{project="a",kind="allocated"} 3',
    'echelon_project_gpus{project="a",kind="quota"} 8',
    'echelon_project_gpus{project="b",kind="allocated"} 3',
    'echelon_project_share{project="a"} 0.25',
    'echelon_project_weight{project="a"} 2',
    'echelon_project_paused{project="a"} 1',
    'echelon_project_paused{project="b"} 0',
  ])
    assert.ok(text.includes(`${line}\n`), line);
  assert.ok(!text.includes('project="b",kind="quota"'));
  show([]);
  assert.ok(!(await registry.metrics()).includes('project="a"'));
});
