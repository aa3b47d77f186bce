import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OWNED_KEYS } from '../../../../src/engines/verl-agent/fields.ts';
import { MERGED_CONFIG } from '../../../../src/engines/verl-agent/merged-config.ts';
import {
  ALLOWED_OVERRIDES,
  CODE_OVERRIDES,
  loadsCode,
  overrideProblems,
} from '../../../../src/engines/verl-agent/overrides.ts';

const messages = (overrides: Record<string, unknown>, allowCustomCode = false) =>
  overrideProblems(overrides, { allowCustomCode, owned: OWNED_KEYS }).map(({ message }) => message);
const refused = (key: string, value: unknown, pattern: RegExp) => {
  const [message, ...more] = messages({ [key]: value });
  assert.match(message ?? 'nothing', pattern, key);
  assert.equal(more.length, 0);
};

describe('overrides', () => {
  test('every allowed override exists in the configuration or adds to it, and no spec field sets it', () => {
    for (const key of [...Object.keys(ALLOWED_OVERRIDES), ...Object.keys(CODE_OVERRIDES)]) {
      assert.notEqual(MERGED_CONFIG.has(key), key.startsWith('+'), key);
      assert.ok(!OWNED_KEYS.has(key), key);
    }
  });

  test('the value of an override is checked by the type of its key', () => {
    assert.deepEqual(messages({ 'data.shuffle': false, '+data.seed': 3, 'data.truncation': 'left' }), []);
    refused('data.shuffle', 'False', /true or false/);
    refused('+data.seed', 1.5, /an integer/);
    refused('actor_rollout_ref.rollout.top_p', 2, /from 0 to 1/);
    refused('data.truncation', 'centre', /one of left/);
  });

  test('an override that loads code or reads a file is refused with the reason', () => {
    const cases: [string, RegExp][] = [
      ['actor_rollout_ref.model.external_lib', /loads code/],
      ['custom_reward_function.path', /no effect: the recipe always uses its own reward manager/],
      ['+actor_rollout_ref.rollout.seed', /every request of a group the same random stream/],
      ['actor_rollout_ref.rollout.val_kwargs.seed', /every request of a group the same random stream/],
      ['data.trust_remote_code', /loads code/],
      ['data.custom_cls.path', /the capture hook/],
      ['+x._target_', /code of its choice/],
      ['hydra.run.dir', /Hydra's own/],
      ['hydra/job_logging', /not a key/],
      ['+ray_init.address', /the connection with Ray/],
      ['trainer.resume_mode', /evaluation\/checkpoint/],
      ['trainer.resume_from_path', /evaluation\/checkpoint/],
      ['data.train_files', /reads a path/],
      ['trainer.default_local_dir', /is a path/],
      ['trainer.val_out', /opposite of its documentation/],
      ['algorithm.hgpo.epsilon', /1e-6/],
      ['trainer.nnodes', /set \/resources\/nodes/],
      ['~data.shuffle', /delete/],
      ['data.shufle', /did you mean data.shuffle/],
      ['env.rollout.n', /set \/rollout\/groupSize/],
      ['+env.rollout.n', /set \/rollout\/groupSize/],
      ['algorithm.adv_estimator', /set \/estimator\/name/],
      ['constructor', /not a key/],
    ];
    for (const [key, pattern] of cases) refused(key, 'x', pattern);
  });

  test('an override that loads code is accepted with allowCustomCode, unless it is a reference', () => {
    const key = 'actor_rollout_ref.model.external_lib';
    assert.deepEqual(messages({ [key]: 'my.models' }, true), []);
    assert.match(messages({ [key]: `\${oc.env:HOME}` }, true)[0]!, /refer/);
    assert.match(messages({ [key]: 'a/../b' }, true)[0]!, /plain/);
    assert.match(messages({ 'custom_reward_function.name': 'score' }, true)[0]!, /no effect/);
    assert.match(messages({ _target_: 'os.system' }, true)[0]!, /code of its choice/);
    assert.match(messages({ 'data.custom_cls.path': 'x' }, true)[0]!, /capture hook/);
  });

  test('loadsCode is true with an override that loads code', () => {
    assert.ok(loadsCode({ 'data.trust_remote_code': true }));
    assert.ok(!loadsCode({ 'data.trust_remote_code': false, 'data.shuffle': true }));
    assert.ok(!loadsCode());
  });
});
