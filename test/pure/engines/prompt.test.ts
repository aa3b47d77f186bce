import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { SETTINGS } from '../../../src/config/settings.ts';
import { COMMON_DEFAULTS } from '../../../src/engines/common-defaults.ts';
import { addressProblems, unlistedProblem } from '../../../src/engines/prompt/endpoint.ts';
import { evaluationDefaults, PROMPT, PROMPT_DEFAULTS } from '../../../src/engines/prompt/engine.ts';
import { PROMPT_PRESETS } from '../../../src/engines/prompt/presets.ts';
import type { PromptSpec } from '../../../src/engines/prompt/spec.ts';
import { permissionProblems } from '../../../src/engines/registry.ts';
import { specProblems } from '../../../src/engines/validate-spec.ts';
import { compileVerlAgent } from '../../../src/engines/verl-agent/compile.ts';
import { resolveVerlAgent } from '../../../src/engines/verl-agent/resolve.ts';
import { draftPreset } from '../../../src/plan/preset-sweep.ts';
import { resolveSpec } from '../../../src/plan/resolve-spec.ts';

const MODEL = { baseUrl: 'https://api.openai.com/v1', name: 'gpt-4o' };
const spec = (more: Partial<PromptSpec> = {}): PromptSpec => ({
  engine: 'prompt',
  name: 'x',
  model: MODEL,
  ...more,
});
const resolved = (given: PromptSpec) => {
  const { spec } = resolveSpec(given, { customCode: true });
  assert.ok(spec.engine === 'prompt');
  return spec;
};

describe('what the prompt engine refuses', () => {
  test('a key needs a secret of the name, trials need reflexion, and a budget needs a price', () => {
    const contradictions = (more: Partial<PromptSpec>) =>
      PROMPT.problems(spec(more)).map(({ field }) => field);
    const model = { ...MODEL, apiKey: 'OPENAI_API_KEY' };
    assert.deepEqual(contradictions({ model }), ['/model/apiKey']);
    assert.deepEqual(contradictions({ model, secrets: { OPENAI_API_KEY: 'openai' } }), []);
    assert.deepEqual(contradictions({ method: { trials: 2 } }), ['/method/trials']);
    assert.deepEqual(contradictions({ method: { name: 'reflexion', trials: 2 } }), []);
    assert.deepEqual(contradictions({ limits: { budget: 1 } }), ['/limits/budget']);
    const price = { input: 2.5, output: 10 };
    assert.deepEqual(contradictions({ limits: { budget: 1 }, model: { ...MODEL, price } }), []);
  });

  test("a submitter's endpoint is one of the operator's, or the submitter has the scope custom-code", () => {
    const endpoints = ['https://api.openai.com'];
    assert.deepEqual(permissionProblems(spec(), { endpoints }), []);
    assert.deepEqual(permissionProblems(spec(), { customCode: true }), []);
    assert.equal(permissionProblems(spec(), {})[0]?.field, '/model/baseUrl');
  });

  test('a metadata service is never an endpoint, with any permission', () => {
    const model = { ...MODEL, baseUrl: 'http://169.254.169.254/v1' };
    const permissions = { customCode: true, endpoints: ['http://169.254.169.254'] };
    assert.throws(() => resolveSpec(spec({ model }), permissions), { code: 'invalid-spec' });
  });
});

test('a split of another environment is refused', () => {
  const fields = (name: 'local' | 'alfworld' | 'webshop', split: 'seen' | 'held-out') =>
    PROMPT.problems(spec({ environment: { name }, evaluation: { split } })).map(({ field }) => field);
  assert.deepEqual(fields('local', 'held-out'), []);
  assert.deepEqual(fields('alfworld', 'seen'), []);
  for (const name of ['local', 'webshop'] as const) {
    assert.deepEqual(fields(name, 'seen'), ['/evaluation/split']);
  }
});

test('a prompted evaluation has limits only if they are set, and reflexion has trials', () => {
  const { limits, method, model } = resolved(spec());
  assert.deepEqual(limits, { concurrency: 8 });
  assert.equal(method.trials, 1);
  assert.ok(!('apiKey' in model));
  assert.equal(resolved(spec({ method: { name: 'reflexion' } })).method.trials, 3);
});

const planned = (more: Partial<PromptSpec>) => {
  const model = { baseUrl: 'http://h/v1', name: 'm' };
  const resolved = PROMPT.resolve({ engine: 'prompt', name: 'x', model, ...more });
  const { arguments: given = [], plan = {} } = PROMPT.compile!(resolved);
  return { resolved, given, plan };
};

test("the environments of a checkout get the recipe's evaluation, with the settings of the spec", () => {
  const { resolved, given, plan } = planned({
    environment: { name: 'alfworld', seed: 456, historyLength: 4 },
    evaluation: { games: 20, split: 'seen' },
  });
  assert.deepEqual(resolved.resources, { nodes: 1, gpus: 0, cpus: 3, nodeLabels: {} });
  const evaluation = resolveVerlAgent({
    engine: 'verl-agent',
    name: 'base',
    recipe: 'qwen2.5_1.5b_alfworld_eval',
    environment: { seed: 456, historyLength: 4 },
    evaluation: { games: 20, rounds: 1, split: 'seen', baseModel: true },
  });
  const ofEnvironments = (overrides: readonly string[]) =>
    overrides.filter((one) => /^(env\.|data\.val_batch_size|trainer\.val_)/.test(one));
  const expected = ofEnvironments(compileVerlAgent(evaluation).overrides);
  assert.ok(expected.includes('env.seed=456') && expected.includes('data.val_batch_size=20'));
  assert.ok(expected.includes('trainer.val_only=True') && expected.includes('trainer.val_out=False'));
  assert.deepEqual(ofEnvironments(given), expected);
  const { spec, plan: ofEvaluation } = plan.evaluation as { spec: object; plan: { phase: string } };
  assert.deepEqual({ ...spec, name: 'base', resources: 0 }, { ...evaluation, resources: 0 });
  assert.equal(ofEvaluation.phase, 'eval');
});

test('the local environment needs no checkout, and webshop has no split', () => {
  assert.deepEqual(planned({}).plan, {});
  const { resolved, given } = planned({ environment: { name: 'webshop' } });
  assert.equal(resolved.evaluation.split, undefined);
  assert.ok(given.includes('env.env_name=Webshop'));
});

const {
  cluster: _any,
  timeoutSeconds: _none,
  deadline: _never,
  checkpointStore: _nowhere,
  ...common
} = COMMON_DEFAULTS;

test('the defaults of the prompt engine are a valid spec', () => {
  const model = { ...PROMPT_DEFAULTS.model, baseUrl: 'http://h:8000/v1', name: 'm' };
  for (const name of ['local', 'alfworld', 'webshop'] as const) {
    const all = { ...common, ...PROMPT_DEFAULTS, ...evaluationDefaults(name), model };
    assert.deepEqual(specProblems({ ...all, engine: 'prompt', name: 'x' }), []);
  }
});

const ENDPOINTS = JSON.parse(readFileSync('test/golden/vectors/endpoints.json', 'utf8')) as Record<
  'metadata' | 'metadataNames' | 'usable',
  string[]
>;

test('a metadata service is refused in every way of writing it, and ordinary addresses are not', () => {
  for (const baseUrl of [...ENDPOINTS.metadata, ...ENDPOINTS.metadataNames]) {
    assert.equal(addressProblems(baseUrl)[0]?.field, '/model/baseUrl', baseUrl);
    assert.match(addressProblems(baseUrl)[0]!.message, /give out credentials/);
  }
  for (const baseUrl of ENDPOINTS.usable) assert.deepEqual(addressProblems(baseUrl), [], baseUrl);
});

test('an endpoint is listed by scheme, host and port', () => {
  const origins = ['https://api.openai.com', 'http://vllm:8000'];
  for (const listed of ['https://api.openai.com/v1', 'https://API.openai.com:443/v1', 'http://vllm:8000'])
    assert.deepEqual(unlistedProblem(listed, origins), [], listed);
  for (const other of [
    'http://api.openai.com/v1',
    'https://api.openai.com:8443',
    'https://api.openai.com.example.org',
    'https://h/v1',
    'http://127.0.0.1:8000/v1',
    'http://vllm:8001',
    'https://vllm:8000',
  ]) {
    const [problem] = unlistedProblem(other, origins);
    assert.equal(problem?.field, '/model/baseUrl', other);
    assert.match(problem.message, /custom-code.*ECHELON_PROMPT_ENDPOINTS/);
  }
});

const [preset] = PROMPT_PRESETS.all;

test('every prompted row is a valid spec with a plan, and needs no permission beside an endpoint of its own', () => {
  for (const { train } of preset!.runs) {
    assert.deepEqual(specProblems(JSON.parse(JSON.stringify(train))), []);
    const own = train.model.baseUrl.startsWith('http://127.0.0.1:8000/');
    const endpoints = [...SETTINGS.promptEndpoints.fallback, ...(own ? ['http://127.0.0.1:8000'] : [])];
    assert.deepEqual(permissionProblems(train, { endpoints }), []);
    const { spec } = resolveSpec(train, { endpoints });
    assert.ok(spec.engine === 'prompt' && PROMPT.compile!(spec).arguments!.includes('trainer.val_out=True'));
  }
});

test('the sweep has the published success rates of the prompted models, and nothing for the others', () => {
  const { spec, after } = draftPreset(preset!, { cluster: 'fleet', home: '/opt/verl-agent' });
  assert.deepEqual(
    spec.children.map((child) => [child.spec.name, child.spec.cluster, child.reference]),
    [
      ['GPT-4o, prompted', 'fleet', { 'val/success_rate': 0.48 }],
      ['Gemini-2.5-Pro, prompted', 'fleet', { 'val/success_rate': 0.603 }],
      ['Qwen2.5-1.5B-Instruct, prompted', 'fleet', undefined],
      ['Qwen2.5-7B-Instruct, prompted', 'fleet', undefined],
    ],
  );
  assert.deepEqual(after, {});
});

for (const [what, model] of [
  ['without a scheme', { ...MODEL, baseUrl: 'api.openai.com/v1' }],
  ['of another scheme', { ...MODEL, baseUrl: 'file:///etc/passwd' }],
  ['with a query', { ...MODEL, baseUrl: 'https://h/v1?x=1' }],
  ['with a placeholder', { ...MODEL, baseUrl: 'https://h/{sharedRoot}' }],
  ['with a blank', { ...MODEL, baseUrl: 'https://h/v1 model.name=other' }],
  ['with credentials', { ...MODEL, baseUrl: 'https://user:word@h/v1' }],
] as const) {
  test(`an address ${what} is refused`, () => {
    const [problem] = specProblems(spec({ model }));
    assert.equal(problem?.field, '/model/baseUrl');
    assert.match(problem.message, /OpenAI-compatible|\/secrets/);
  });
}

test('an address that is none, or whose path could be left, is refused before anything reads it', () => {
  const { unusable, usable } = JSON.parse(
    readFileSync('test/golden/vectors/endpoints.json', 'utf8'),
  ) as Record<'unusable' | 'usable', string[]>;
  const problemsOf = (baseUrl: string) => {
    const given = spec({ model: { ...MODEL, baseUrl } });
    const problems = specProblems(given);
    return problems.length > 0 ? problems : PROMPT.problems(given as PromptSpec);
  };
  for (const baseUrl of unusable) assert.equal(problemsOf(baseUrl)[0]?.field, '/model/baseUrl', baseUrl);
  for (const baseUrl of usable) assert.deepEqual(problemsOf(baseUrl), [], baseUrl);
});

test('an unknown field is refused', () => {
  const problems = specProblems(spec({ model: { ...MODEL, tempratur: 1 } as PromptSpec['model'] }));
  assert.deepEqual(
    problems.map(({ field }) => field),
    ['/model/tempratur'],
  );
});

test('a key in plain text is refused without being repeated', () => {
  const key = `sk-${'A1b2C3d4'.repeat(5)}`;
  const [problem] = specProblems(spec({ model: { ...MODEL, apiKey: key } }));
  assert.equal(problem?.field, '/model/apiKey');
  assert.match(problem.message, /API key.*\/secrets/);
  assert.ok(!problem.message.includes(key));
});
