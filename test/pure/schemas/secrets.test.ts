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

  test('a secret that a file or a command assigns is refused, wherever it stands', () => {
    const key = '0123456789abcdef0123456789abcdef01234567';
    for (const [name, text] of [
      ['.env', `# database\nHOST=h\nexport DB_PASSWORD=hunter22\n`],
      ['.env', `A=1\r\nWANDB_API_KEY='${key}'\r\n`],
      ['config.yaml', 'database:\n  host: h\n  password: hunter22 # of the team\n'],
      ['config.yaml', `- { name: x, api_key: ${key} }\n`],
      ['config.json', `{"host": "h", "db": {"password" : "hunter22"}}`],
      ['nested.json', JSON.stringify({ inner: JSON.stringify({ secret_key: key }) })],
      ['train.py', `import x\nDB_PASSWORD = "hunter22"\n`],
      ['train.py', `login(token='${key}')\n`],
      ['train.py', `os.environ["WANDB_API_KEY"] = "${key}"\n`],
      ['settings.toml', `[db]\npassword = "hunter22"\n`],
      ['run.sh', 'A=1 DB_PASSWORD=hunter22 python train.py'],
    ] as const)
      assert.deepEqual(fields({ files: { [name]: text } }), [`/files/${name}`], text);
    assert.deepEqual(fields({ command: ['bash', '-c', 'A=1 DB_PASSWORD=hunter22 python train.py'] }), [
      '/command/2',
    ]);
    assert.deepEqual(fields({ command: ['bash', '-c', 'export A=1; export DB_PASSWORD="hunter22"'] }), [
      '/command/2',
    ]);
  });

  test('a problem names the line of a secret in a text of several lines', () => {
    const messages = (input: unknown) => plainSecretProblems(input).map(({ message }) => message);
    for (const text of [
      'import x\n\nDB_PASSWORD = "hunter22"\n',
      'a\nb\nurl = "https://user:hunter2@host/x"\nc',
      `a: 1\nb: 2\nwandb_api_key: 0123456789abcdef0123456789abcdef01234567\n`,
    ])
      assert.match(messages({ files: { 'a.yaml': text } }).join(), / in line 3;/, text);
    assert.doesNotMatch(messages({ db: { password: 'hunter2' } }).join(), /line/);
  });

  test('files that name secrets and hold none are not refused', () => {
    for (const [name, text] of [
      [
        'train.py',
        'password = args.password\ntoken = os.environ["HF_TOKEN"]\ndef f(password: str = None): ...',
      ],
      ['train.py', 'if token == "pad" or password != other:\n  secret: Optional[str] = None'],
      ['run.sh', 'PASSWORD=$DB_PASSWORD API_KEY="$API_KEY" SECRET=$(cat /run/secret) python x.py'],
      ['.env.example', 'DB_PASSWORD=\nWANDB_API_KEY=<your key>\nTOKEN={{ token }}\nHF_TOKEN=your-token'],
      ['config.yaml', 'max_tokens: 512\ntokenizer: Qwen/Qwen2.5-1.5B\npassword: null\nkey: value\n'],
      ['config.yaml', 'sort_key: created_at_2026_v2_index\ndb: {password_env: PGPASSWORD}\n'],
      ['run.sh', 'python -c "import os; password=os.environ[1]" --password_env=PGPASSWORD'],
      ['README.md', 'Password: ask the operator of the cluster for it.'],
    ] as const)
      assert.deepEqual(fields({ files: { [name]: text } }), [], text);
  });

  test('a large file of assignments is read in linear time', () => {
    for (const part of ['":', 'a=', 'password=\n', 'password="', '\\\\:', ' :']) {
      const began = performance.now();
      fields({ files: { 'x.json': part.repeat(131_072 / part.length) } });
      // A quadratic search takes minutes.
      assert.ok(performance.now() - began < 20_000, part);
    }
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
