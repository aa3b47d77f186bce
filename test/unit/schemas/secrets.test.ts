import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { specProblems } from '../../../src/engines/validate-spec.ts';
import { plainSecretProblems } from '../../../src/schemas/secrets.ts';
import { PLAIN, SECRETS } from '../../support/secrets.ts';

const local = (changes: object = {}) => ({
  engine: 'local',
  name: 'x',
  estimator: { name: 'hgpo' },
  ...changes,
});

const fields = (input: unknown) => plainSecretProblems(input).map(({ field }) => field);

describe('a spec with a secret in plain text', () => {
  for (const { kind, secret } of SECRETS)
    test(`a spec with a secret in plain text is refused and the secret not quoted: ${kind}`, () => {
      for (const spec of [
        local({ name: `with ${secret}` }),
        local({ [secret]: 1 }),
        local({ environment: { [secret]: secret } }),
        { engine: 'verl-agent', recipe: secret, overrides: { 'trainer.x': [secret] } },
      ]) {
        const problems = specProblems(spec);
        assert.ok(problems.length > 0, JSON.stringify(spec));
        assert.ok(!JSON.stringify(problems).includes(secret), JSON.stringify(problems));
        assert.match(problems[0]!.message, /store it on the cluster and name it under \/secrets/);
      }
    });

  test('a random value is refused as a secret under a secret name, anywhere in a spec', () => {
    const value = '0123456789abcdef0123456789abcdef01234567';
    assert.deepEqual(fields({ env: { WANDB_API_KEY: value } }), ['/env/WANDB_API_KEY']);
    assert.deepEqual(fields({ overrides: { 'trainer.wandb_api_key': value } }), [
      '/overrides/trainer.wandb_api_key',
    ]);
    assert.deepEqual(fields({ arguments: ['a', `+x.hf_token=${value}`] }), ['/arguments/1']);
    assert.deepEqual(fields({ db: { password: 'hunter2' } }), ['/db/password']);
  });

  test('a secret in place of a reference is refused', () => {
    assert.deepEqual(fields({ secrets: { WANDB_API_KEY: '0123456789abcdef0123456789abcdef01234567' } }), [
      '/secrets/WANDB_API_KEY',
    ]);
  });
});

test('hashes, models, paths, seeds and references are not refused as secrets', () => {
  for (const text of PLAIN)
    assert.deepEqual(fields({ name: text, overrides: { 'model.path': text } }), [], text);
  assert.deepEqual(
    fields({ environment: { seed: 2147483647 }, max_tokens: 4096, tokenizer: 'a'.repeat(40) }),
    [],
  );
  assert.deepEqual(fields({ tokenizer_revision: '0123456789abcdef0123456789abcdef01234567' }), []);
  assert.deepEqual(fields({ secrets: { HF_TOKEN: 'hf-read', WANDB_API_KEY: 'wandb-team-2026' } }), []);
});

test('a reserved variable name or a bad secret reference is refused', () => {
  const of = (secrets: object) => specProblems(local({ secrets })).map(({ field }) => field);
  assert.deepEqual(of({ HF_TOKEN: 'hf-read', A_1: 'b.c_d-e' }), []);
  for (const name of ['PATH', 'LD_PRELOAD', 'PYTHONPATH', 'RAY_ADDRESS', 'ECHELON_SPOOL', '1A', 'A-B', ''])
    assert.equal(of({ [name]: 'hf-read' }).length, 1, name);
  for (const reference of ['', '../token', '/etc/passwd', 'a b', '.hidden', 7])
    assert.deepEqual(of({ HF_TOKEN: reference }), ['/secrets/HF_TOKEN'], String(reference));
});
