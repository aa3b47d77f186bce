import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

// What a client, a trainer or a file says is never run: bytes that the ray-worker is given are messages and JSON.
const RUNS_WHAT_IT_READS =
  /\b(?:pickle|cPickle|cloudpickle|dill|marshal|shelve)\b|\byaml\.(?:unsafe_)?load\b|\b(?:eval|exec)\(|shell=True|os\.system\(/;

// Says how a function of ours is sent to other nodes; reads nothing.
const OURS =
  /ray\.cloudpickle\.register_pickle_by_value\((?:hidden|process_setup|sys\.modules\[__name__\])\)/;

test('no code of the ray-worker runs what it reads', () => {
  const files = globSync('deploy/ray-worker/echelon_rayworker/**/*.py').filter(
    (file) => !file.includes('/gen/'),
  );
  assert.ok(files.length > 40);
  const found = files.flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line, at) =>
        RUNS_WHAT_IT_READS.test(line.replace(/#.*/, '').replace(OURS, ''))
          ? [`${file}:${at + 1}: ${line}`]
          : [],
      ),
  );
  assert.deepEqual(found, []);
  assert.match('value = pickle.loads(data)', RUNS_WHAT_IT_READS);
});
