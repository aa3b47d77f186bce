import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { findConfigYaml } from '../../src/dumps/config-yaml.ts';
import { folder } from '../support/dump-files.ts';

test('the nearest config.yaml that has the section is found, also that of Hydra', async () => {
  await using dir = await folder();
  const near = join(dir.path, 'rollouts', 'x.jsonl');
  await mkdir(join(dir.path, 'rollouts'));
  await mkdir(join(dir.path, '.hydra'));
  const hydra = await dir.write('.hydra/config.yaml', 'grpo: {normalize_rewards: true}');
  await dir.write('rollouts/config.yaml', 'other: {a: 1}');
  assert.equal((await findConfigYaml(near, 'grpo'))?.file, hydra);
  const own = await dir.write('rollouts/config.yaml', 'grpo: {normalize_rewards: false}');
  assert.deepEqual(await findConfigYaml(near, 'grpo'), {
    file: own,
    settings: { grpo: { normalize_rewards: false } },
  });
});

const UNREADABLE = {
  'no mapping': 'grpo',
  'no section': 'grpo: 3',
  'no YAML': 'grpo: {a: [',
  'aliases that multiply': `a: &a [${'x, '.repeat(200)}x]\nb: &b [${'*a, '.repeat(200)}*a]\ngrpo: {c: [${'*b, '.repeat(200)}*b]}`,
  'too large': `grpo: {a: ${'x'.repeat(2 ** 20)}}`,
};
for (const [name, text] of Object.entries(UNREADABLE))
  test(`a config.yaml with ${name} is ignored`, async () => {
    await using dir = await folder();
    const near = await dir.write('x.jsonl', '');
    assert.equal(await findConfigYaml(near, 'grpo'), undefined);
    await dir.write('config.yaml', text);
    assert.equal(await findConfigYaml(near, 'grpo'), undefined);
  });
