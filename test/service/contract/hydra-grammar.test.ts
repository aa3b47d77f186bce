import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { compileVerlAgent } from '../../../src/engines/verl-agent/compile.ts';
import { type HydraValue, hydraOverride, readHydraText } from '../../../src/engines/verl-agent/hydra.ts';
import { MERGED_CONFIG } from '../../../src/engines/verl-agent/merged-config.ts';
import { verlAgentPresets } from '../../../src/engines/verl-agent/presets.ts';
import { resolveSpec } from '../../../src/plan/resolve-spec.ts';

// Reads overrides with Hydra's own parser and merges them with OmegaConf, where both are installed.

const PYTHON = process.env.ECHELON_HYDRA_PYTHON ?? process.env.ECHELON_PYTHON ?? '.venv/bin/python';
const SCRIPT = `
import json, sys
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import OmegaConf
parser = OverridesParser.create()
answers = []
for text in json.load(sys.stdin):
    try:
        one = parser.parse_override(text)
        value = OmegaConf.to_container(OmegaConf.create({"value": one.value()}), resolve=True)["value"]
        answers.append([("+" if one.is_add() else "") + one.key_or_group, value])
    except Exception as error:
        answers.append(type(error).__name__)
print(json.dumps(answers))`;
const installed = spawnSync(PYTHON, ['-c', 'import hydra']).status === 0;
const skip = installed ? false : `hydra-core is not installed for ${PYTHON}`;

type Read = [key: string, value: unknown] | string;
const read = (overrides: readonly string[]): Read[] =>
  JSON.parse(execFileSync(PYTHON, ['-c', SCRIPT], { input: JSON.stringify(overrides), encoding: 'utf8' }));

describe("Hydra's own parser", { skip }, () => {
  test("Hydra's own parser reads every override of every preset as one key of the configuration, with its value", () => {
    const specs = verlAgentPresets().flatMap(({ runs }) =>
      runs.flatMap((run) => [run.train, run.evaluations[0]!]),
    );
    const overrides = specs.flatMap((spec) => {
      const resolved = resolveSpec(spec).spec;
      return resolved.engine === 'verl-agent' ? compileVerlAgent(resolved).overrides : [];
    });
    for (const [index, answer] of read(overrides).entries()) {
      const [key, text] = [overrides[index]!.split('=')[0]!, overrides[index]!.replace(/^[^=]*=/, '')];
      const value = text.startsWith("'") ? text.slice(1, -1) : readHydraText(text);
      assert.deepEqual(answer, [key, value]);
      assert.ok(MERGED_CONFIG.has(key) || /^(hydra\.run\.dir|\+ray_init\.)/.test(key), key);
    }
  });

  test("Hydra's own parser reads back any text that can be written, as that text and nothing else", () => {
    const unit = fc.constantFrom(...'ab1 =\'"$(){}[],:~+%#é;|@?*&!<>^`_./-');
    const [texts] = fc.sample(
      fc.array(fc.string({ unit, maxLength: 12 }), { minLength: 2000, maxLength: 2000 }),
      1,
    );
    const values: HydraValue[] = [
      ...texts!,
      'null',
      'True',
      'nan',
      '12',
      '1e3',
      "it's",
      "''",
      "\\'".slice(1),
    ].filter((value) => !value.includes('${'));
    const answers = read(values.map((value) => hydraOverride('data.key', value)));
    for (const [index, value] of values.entries()) {
      assert.deepEqual(answers[index], ['data.key', value], hydraOverride('data.key', value));
    }
  });

  test("Hydra's own parser reads numbers and truth values as such", () => {
    const values: HydraValue[] = [1e-7, 1e21, -3, 0.95, 160, true, false, ['console', 'wandb']];
    const answers = read(values.map((value) => hydraOverride('+data.key', value)));
    assert.deepEqual(
      answers,
      values.map((value) => ['+data.key', value]),
    );
  });
});
