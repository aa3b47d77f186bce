/** The pages of docs/getting-started, as their readers type them, in an empty root and home. */

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import { codeOf } from '../support/packed.ts';

interface Reader {
  /** The folder in which the reader types. */
  readonly work: string;
  type(text: string): { status: number | null; out: string };
}

/** An empty root with an empty home; REPOSITORY is this checkout. */
function emptyRoot(t: TestContext): Reader {
  const root = mkdtempSync(join(tmpdir(), 'echelon-reader-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const [home, work] = [join(root, 'home'), join(root, 'work')];
  for (const folder of [home, work]) mkdirSync(folder);
  const path = process.env.PATH!.split(':').filter((one) => !/node_modules|\.venv|\.cache/.test(one));
  // How the registries are reached is of the machine, not of the reader.
  const registries = Object.entries(process.env).filter(([name]) =>
    /^(?:pip|npm_config|https?_proxy|no_proxy|ssl|node_extra)/i.test(name),
  );
  const env = { ...Object.fromEntries(registries), HOME: home, PATH: path.join(':'), LANG: 'C.UTF-8' };
  return {
    work,
    type(text) {
      const commands = text.replaceAll('REPOSITORY', `file://${resolve('.')}`);
      const done = spawnSync('bash', ['-c', commands], { cwd: work, env, encoding: 'utf8' });
      return { status: done.status, out: done.stdout + done.stderr };
    },
  };
}

const blocksOf = (page: string): string[] =>
  codeOf(readFileSync(`docs/getting-started/${page}.md`, 'utf8'), 'sh');

test('the page for a TRL run verifies the outputs of a run from nothing', (t) => {
  const { work, type } = emptyRoot(t);
  cpSync('test/golden/dumps/trl/group', join(work, 'outputs'), { recursive: true });
  const started = performance.now();
  const { status, out } = type(`set -e\n${blocksOf('trl')[0]!}`);
  assert.equal(status, 0, out);
  assert.match(out, /^run +TRL: outputs\/training_args\.bin$/m);
  assert.match(out, /3 of 3 batches ok/);
  t.diagnostic(`from nothing: ${((performance.now() - started) / 1000).toFixed(1)} s`);
  const size = execFileSync('du', ['-sk', join(work, 'echelon-env')], { encoding: 'utf8' });
  t.diagnostic(`environment: ${size.split('\t')[0]} kB`);
});

/** A training that reports one batch, as the script of a reader. */
const RUN = `python3 - <<'END'
import echelon_capture as capture
capture.batch(1, estimator=dict(name="rloo"), group=["a", "a"], trajectory=[0, 1], token_level_reward_sum=[1.0, 0.0], advantage=[1.0, -1.0])
END
`;

test('the page for a verl run starts a script with the launcher and verifies what it recorded', (t) => {
  const { work, type } = emptyRoot(t);
  mkdirSync(join(work, 'outputs/.hydra'), { recursive: true });
  writeFileSync(
    join(work, 'outputs/.hydra/config.yaml'),
    'actor_rollout_ref: {}\nalgorithm: {adv_estimator: rloo}\n',
  );
  writeFileSync(join(work, 'run.sh'), RUN);
  const [look, record, verify] = blocksOf('verl');
  const looked = type(`set -e\n${look}`);
  assert.equal(looked.status, 2, looked.out);
  assert.match(looked.out, /^run +verl: outputs\/\.hydra\/config\.yaml$/m);
  assert.match(looked.out, /echelon-capture run -- python3 -m verl\.trainer\.main_ppo/);
  // The environment of the training is the one that is there.
  const recorded = type(`set -e\n. echelon-env/bin/activate\n${record}`);
  assert.equal(recorded.status, 0, recorded.out);
  const verified = type(verify!);
  // The script is no trainer, and the launcher says that it followed none: deploy/capture/tests have real trainings.
  assert.equal(verified.status, 3, verified.out);
  assert.match(verified.out, /1 of 1 batches ok/);
  assert.match(verified.out, /Not captured: .*\n.*no process used a trainer/);
});
