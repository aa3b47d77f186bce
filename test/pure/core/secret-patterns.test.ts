import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import {
  isSecretName,
  looksRandom,
  MASK,
  maskSecrets,
  mayBeSecret,
  secretKind,
} from '../../../src/core/secret-patterns.ts';
import { PLAIN, SECRETS } from '../../support/secrets.ts';

describe('secrets by their form', () => {
  for (const { kind, secret } of SECRETS)
    test(`${kind} is known and masked`, () => {
      assert.equal(secretKind(`with ${secret} in it`), kind);
      const masked = maskSecrets(`{"with":"${secret}"}`);
      assert.ok(masked.includes(MASK) && !masked.includes(secret), masked);
    });

  test('what trainings name and print is none', () => {
    for (const text of PLAIN) {
      assert.equal(secretKind(text), undefined, text);
      assert.equal(maskSecrets(text), text);
    }
  });

  test('secrets that their form or the text before them tells are known and masked, as on the ray-worker', () => {
    const vectors = 'test/golden/vectors/secret-forms.json';
    const { masked, plain } = JSON.parse(readFileSync(vectors, 'utf8')) as {
      masked: { kind: string; text: string; shown: string }[];
      plain: string[];
    };
    for (const { kind, text, shown } of masked) {
      assert.deepEqual([secretKind(text), maskSecrets(text)], [kind, shown], text);
      assert.equal(maskSecrets(shown), shown);
    }
    for (const text of plain) assert.deepEqual([secretKind(text), maskSecrets(text)], [undefined, text]);
  });

  test('a secret is found in time linear in the text, however it is made', () => {
    for (const text of [
      'eyJ'.repeat(20_000),
      '://a:'.repeat(20_000),
      '-----BEGIN '.repeat(5_000),
      'sk-'.repeat(20_000),
      'curl -u a '.repeat(10_000),
      '--password '.repeat(10_000),
      'machine a login b '.repeat(5_000),
      '\na:5432:'.repeat(10_000),
    ])
      assert.equal(typeof maskSecrets(text), 'string');
  });
});

describe('names', () => {
  test('names of secrets are known as such', () => {
    for (const name of [
      'WANDB_API_KEY',
      'hfToken',
      'password',
      'apiKey',
      'client_secret',
      'encryption_key',
      'KEY',
      'key',
      'aws_access_key_id',
    ])
      assert.ok(isSecretName(name), name);
  });

  test('names of settings of a training are no names of secrets', () => {
    for (const name of [
      'tokenizer',
      'max_tokens',
      'maxPromptTokens',
      'eos_token',
      'token_level',
      'keyboard',
      'pad_token_id',
      'sort_key',
      'primaryKey',
      'prompt_key',
      'data.reward_key',
      'password_env',
      'apiKeyFile',
      'token_name',
    ])
      assert.ok(!isSecretName(name), name);
  });
});

describe('values under a secret name', () => {
  test('random values under a secret name may be secrets', () => {
    assert.ok(mayBeSecret('password', 'hunter2'));
    assert.ok(mayBeSecret('api_key', '0123456789abcdef0123456789abcdef01234567'));
    assert.ok(looksRandom('Zm9vYmFyMTIzNDU2Nzg5MA'));
  });

  test('may be placeholders, words and paths', () => {
    for (const value of ['getpass.getpass("DB: ")', 'os.environ["PGPASSWORD"]', 'input('])
      assert.ok(!mayBeSecret('password', value), value);
    for (const value of ['', 'none', '$'.concat('{HF_TOKEN}'), '***', 'a sentence of words', 'Qwen2', '512'])
      assert.ok(!mayBeSecret('api_key', value), value);
  });
});
