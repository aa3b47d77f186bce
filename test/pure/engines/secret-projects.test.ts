import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ownEntries,
  type SecretProjects,
  secretProjectProblems,
} from '../../../src/engines/secret-projects.ts';

const problems = (project: string | undefined, name: string, ...clusters: SecretProjects[]) =>
  secretProjectProblems({ secrets: { HF_TOKEN: name }, ...(project && { project }) }, clusters);
const isRefused = (...input: Parameters<typeof problems>) => problems(...input).length > 0;

test('a project may name a secret that lists the project, on every cluster that may run the experiment', () => {
  const listed = { team: ['vision', 'speech'], common: ['*'], none: [] };
  assert.ok(!isRefused('vision', 'team', listed));
  assert.ok(!isRefused('other', 'common', listed));
  assert.ok(!isRefused('vision', 'team', listed, { team: ['vision'] }));
  assert.ok(isRefused('other', 'team', listed));
  assert.ok(isRefused('vision', 'none', listed));
  assert.ok(isRefused('vision', 'team', listed, {}));
  assert.deepEqual(secretProjectProblems({ project: 'other' }, [listed]), []);
});

/* The ray-worker finds `ECHELON_SECRET_HF_READ` by several names: another spelling must not reach the same value. */
test('a secret that is not listed is refused to every project, in the words of a secret of another project', () => {
  const listed = { 'hf-read': ['vision'] };
  for (const name of ['absent', 'HF_READ', 'constructor', 'toString'])
    for (const project of ['default', undefined, 'vision']) assert.ok(isRefused(project, name, listed), name);
  const words = (name: string) => problems('default', name, listed)[0]!.message.replaceAll(name, 'NAME');
  assert.equal(words('hf-read'), words('absent'));
});

test('secrets of a cluster without a list belong to the project default alone', () => {
  assert.ok(!isRefused('default', 'any', null));
  assert.ok(!isRefused(undefined, 'any', null));
  assert.ok(isRefused('vision', 'any', null));
});

test('a project sees of the list its own secrets, without the other projects that use them', () => {
  const listed = { team: ['vision', 'speech'], common: ['*'], theirs: ['speech'] };
  assert.deepEqual(ownEntries('vision', listed), { team: ['vision'], common: ['*'] });
});
