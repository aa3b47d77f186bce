import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { PRIME_RL } from '../../src/dumps/prime-rl.ts';
import { type DumpReport, verifyDump } from '../../src/verify/verify-dump.ts';
import { folder, jsonLines } from '../support/dump-files.ts';
import { randomFrom } from '../support/random-batch.ts';

const GRPO =
  '[algo]\ntype = "grpo"\nlength_weighted_baseline = false\ncontinue_prob = 0.0\nfailsafe_min_members = 4\n';

/** Two responses to one prompt with their advantages by grpo. */
const EPISODES = [0.5, -0.5].map((advantage, id) => ({
  id: `episode-${id}`,
  group: { id: 'a' },
  errors: [],
  traces: [
    { id: `trace-${id}`, rewards: { answer: { score: 0.5 + advantage, weight: 1 } }, info: { advantage } },
  ],
}));

/** The report of a run with one group and a configuration file of this text. */
async function configured(name: string, text: string): Promise<DumpReport> {
  await using dir = await folder();
  const files: string[] = [];
  for (const part of ['all', 'effective']) {
    const place = `rollouts/step_1/train/${part}/traces.jsonl`;
    await mkdir(dirname(join(dir.path, place)), { recursive: true });
    files.push(await dir.write(place, jsonLines(EPISODES)));
  }
  await mkdir(join(dir.path, 'configs'));
  await dir.write(name, text);
  const [report] = await Array.fromAsync(verifyDump(PRIME_RL, files));
  return report!;
}

test('the algorithm is found in the configuration of the run, which the report names', async () => {
  for (const [name, text] of [
    ['configs/orchestrator.toml', GRPO],
    ['rl.toml', GRPO.replace('[algo]', '[orchestrator.algo]')],
    ['configs/orchestrator.toml', `${GRPO}[[train.env]]\nname = "a"\n[train.env.algo]\ntype = "grpo"\n`],
  ] as const) {
    const { ok, configuration } = await configured(name, text);
    assert.deepEqual([ok, configuration.origin], [true, 'found'], text);
    assert.ok(configuration.file!.endsWith(name));
    assert.match(configuration.fingerprint!, /^grpo\(std=none/);
  }
  const overridden = '[algo]\ntype = "max_rl"\n[[train.env]]\n[train.env.algo]\ntype = "grpo"\n';
  assert.ok((await configured('configs/orchestrator.toml', overridden)).ok);
  const other = await configured('rl.toml', '[orchestrator.algo]\ntype = "max_rl"');
  assert.match(other.configuration.fingerprint!, /^max_rl/);
  assert.equal(other.wrong, 2);
});

test('settings that are not supported are named, and nothing is verified', async () => {
  for (const [text, reason] of [
    [
      '[algo]\ntype = "rae"\ndecay = 0.95',
      /states algo\.type="rae", algo\.decay=0\.95, which is not supported/,
    ],
    ['[algo]\ntype = "grpo"\nlength_weighted_baseline = true', /algo\.length_weighted_baseline=true/],
    [
      '[algo]\ntype = "grpo"\n[algo.length_penalty]\ntype = "linear"',
      /algo\.length_penalty=\{"type":"linear"\}/,
    ],
    [
      `${GRPO}[[train.env]]\n[[train.env]]\n[train.env.algo]\ntype = "max_rl"`,
      /different algorithms for its environments/,
    ],
  ] as const) {
    const { ok, consistent, configuration } = await configured('configs/orchestrator.toml', text);
    assert.deepEqual([ok, consistent, configuration.origin], [false, false, 'unknown']);
    assert.match(configuration.reason!, reason);
  }
});

test('without a stated algorithm it is inferred', async () => {
  for (const text of ['', 'batch_size = 8', '[algo]\nsampling = {}', 'algo = 3'])
    assert.equal(
      (await configured('configs/orchestrator.toml', text)).configuration.origin,
      'inferred',
      text,
    );
});

test('a damaged configuration is named with its line, and the algorithm is inferred', async () => {
  const { consistent, configuration, findings } = await configured('rl.toml', 'a = 1\n[algo\ntype = "grpo"');
  assert.deepEqual([consistent, configuration.origin], [true, 'inferred']);
  const [own] = findings.filter(({ code }) => code === 'configuration-unreadable');
  assert.match(own!.message, /rl\.toml cannot be read: line 2: /);
  const random = randomFrom(11);
  for (let round = 0; round < 60; round++) {
    const at = Math.floor(random() * GRPO.length);
    const damaged = GRPO.slice(0, at) + String.fromCharCode(Math.floor(random() * 300)) + GRPO.slice(at + 3);
    const report = await configured(
      'configs/orchestrator.toml',
      round % 2 === 0 ? damaged : GRPO.slice(0, at),
    );
    assert.ok(['found', 'inferred', 'unknown'].includes(report.configuration.origin));
  }
});
