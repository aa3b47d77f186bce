import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import { STRICT_AJV } from '../../../src/schemas/check.ts';
import { newProject, Project, ProjectChange, ProjectInput } from '../../../src/schemas/project.ts';

const ajv = new Ajv(STRICT_AJV);

test('a new project has the defaults and fits its schema', () => {
  const project = newProject({ name: 'a-team' }, 5);
  assert.deepEqual(project, {
    ...{ version: 1, name: 'a-team', weight: 1, gpuQuota: null, createdAt: 5 },
    ...{ storeQuotaBytes: null, retention: null },
  });
  assert.ok(ajv.validate(Project, project));
});

test('a project change that is empty, unknown or out of bounds is refused', () => {
  for (const good of [{ weight: 0.5 }, { gpuQuota: 0 }, { gpuQuota: null }, { storeQuotaBytes: 5 }])
    assert.ok(ajv.validate(ProjectChange, good), JSON.stringify(good));
  for (const bad of [
    {},
    { weight: 0 },
    { gpuQuota: -1 },
    { gpuQuota: 1.5 },
    { name: 'b' },
    { quota: 1 },
    { storeBytes: 1 },
  ])
    assert.ok(!ajv.validate(ProjectChange, bad), JSON.stringify(bad));
  assert.ok(!ajv.validate(ProjectInput, { name: 'A b' }));
});
