import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SETTINGS } from '../../../../src/config/settings.ts';
import { PROMPT } from '../../../../src/engines/prompt/engine.ts';
import { PROMPT_PRESETS } from '../../../../src/engines/prompt/presets.ts';
import { permissionProblems } from '../../../../src/engines/registry.ts';
import { specProblems } from '../../../../src/engines/validate-spec.ts';
import { draftPreset } from '../../../../src/plan/preset-sweep.ts';
import { resolveSpec } from '../../../../src/plan/resolve-spec.ts';

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
