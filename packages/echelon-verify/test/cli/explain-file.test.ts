import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { explainFile } from '../../src/cli/explain-file.ts';
import { verifyFiles } from '../../src/cli/verify-files.ts';
import { captured } from '../support/captured.ts';
import { folder } from '../support/dump-files.ts';

const run = promisify(execFile);

interface GoldenBatch {
  name: string;
  reported: { advantage: number[] };
}

const FILE = 'test/golden/hgpo.json';

test('explains a row in words or JSON', async () => {
  const text = captured();
  assert.equal(await explainFile(FILE, { batch: 'late-n7', row: 16 }, text.io), 0);
  assert.match(text.out(), /^Row 16 of late-n7 is ROUNDING/);
  const json = captured();
  assert.equal(await explainFile(FILE, { batch: 'late-n7', row: 16, json: true }, json.io), 0);
  assert.equal((JSON.parse(json.out()) as { outcome: string }).outcome, 'rounding');
});

test('explains the first wrong row if none is named, and says so if none is wrong', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'echelon-explain-'));
  t.after(() => rm(folder, { recursive: true }));
  const file = join(folder, 'batches.json');
  const golden = JSON.parse(await readFile(FILE, 'utf8')) as { batches: GoldenBatch[] };
  golden.batches = golden.batches.slice(0, 2);
  const explained = async () => {
    await writeFile(file, JSON.stringify(golden));
    const streams = captured();
    return { streams, status: await explainFile(file, {}, streams.io) };
  };
  const none = await explained();
  assert.equal(none.status, 2);
  assert.match(none.streams.err(), /no row is wrong\. Give the row/);
  golden.batches[1]!.reported.advantage[2] = 9;
  const found = await explained();
  assert.equal(found.status, 0, found.streams.err());
  assert.match(found.streams.out(), new RegExp(`^Row 2 of ${golden.batches[1]!.name} is WRONG`));
});

test('refuses batches and rows that are not there', async () => {
  const streams = captured();
  assert.equal(await explainFile(FILE, { batch: 'late-n7', row: 238 }, streams.io), 2);
  assert.match(streams.err(), /batch late-n7: there is no row 238\. The rows are 0 to 237/);
  assert.equal(await explainFile(FILE, { batch: 'late-n8', row: 0 }, streams.io), 2);
  assert.match(streams.err(), /Did you mean late-n7\?/);
  assert.equal(await explainFile(FILE, { batch: 'late-n7', row: Number.NaN }, streams.io), 2);
  assert.equal(streams.out(), '');
});

test('the command that verify prints explains a wrong row of a dump, whatever the shell makes of its words', async () => {
  await using dir = await folder();
  const rows = [0, 1, 0, 1].map(
    (score, i) => `"it's 1",${score},${i === 2 ? 5 : score === 1 ? 0.8660252 : -0.8660252}`,
  );
  const file = await dir.write("it's a run.csv", `prompt,score,adv\n${rows.join('\n')}\n`);
  const options = ['--map', 'group=prompt,reward=score,advantage=adv', '--estimator', 'grpo'];
  const verified = await run(process.execPath, [
    'packages/echelon-verify/src/cli/main.ts',
    file,
    ...options,
  ]).catch((error: { stdout: string }) => error);
  const [, command] =
    /^Explain a wrong row with:\n {2}(echelon-verify explain .*)$/m.exec(verified.stdout) ?? [];
  assert.ok(command, verified.stdout);
  const program = `echelon-verify() { "${process.execPath}" packages/echelon-verify/src/cli/main.ts "$@"; }; ${command}`;
  const explained = await run('bash', ['-c', program]);
  assert.match(explained.stdout, /^Row 2 of .* is WRONG/);
  assert.match(explained.stderr, /^estimator: grpo\(.*, as stated$/m);
});

test('a step of a run is explained by its configuration, from its folder too', async () => {
  const run = 'test/golden/dumps/trl/group/completions';
  const streams = captured();
  assert.equal(await explainFile(run, { batch: 'step 2', row: 3 }, streams.io), 0, streams.err());
  assert.match(streams.out(), /^Row 3 of step 2 is EXACT/);
  assert.match(streams.err(), /^estimator: grpo\(/);
  const other = captured();
  assert.equal(await explainFile(run, { batch: 'step 9', row: 3 }, other.io), 2);
  assert.match(other.err(), /has no batch "step 9"/);
});

test('a dump without groups is refused with what is missing', async () => {
  await using dir = await folder();
  const file = await dir.write('a.csv', 'reward,advantage\n0,-1\n1,1\n');
  const streams = captured();
  assert.equal(await explainFile(file, { row: 0, from: 'table', estimator: 'grpo' }, streams.io), 2);
  assert.match(streams.err(), /There is no column "group"\./);
});

const CONTEXTS = 'test/golden/dumps/trl-contexts/1.16.0';

test('a row that was not judged is refused with the reason, not called wrong', async () => {
  for (const [run, batch, reason] of [
    ['evaluated-pairs', 'step 2', /The trainer evaluated at step 2/],
    ['evaluated-pairs', 'step 3', /The rows do not fit the training/],
    ['same-name', 'step 1', /are those of other rewards/],
    ['same-name-weights', 'step 1', /2 reward functions, the dump 1 reward column/],
  ] as const) {
    const streams = captured();
    assert.equal(await explainFile(`${CONTEXTS}/${run}`, { batch, row: 0 }, streams.io), 2);
    assert.match(streams.err(), reason);
    assert.equal(streams.out(), '');
  }
  await using dir = await folder();
  const streams = captured();
  assert.equal(await explainFile(dir.path, { row: 0 }, streams.io), 2);
  assert.match(streams.err(), /holds no batch\./);
});

test('a wrong row of a step in several folders, beside an evaluation of its name, is explained by the printed place', async () => {
  await using dir = await folder();
  await cp('test/golden/dumps/slime-settings/even', dir.path, { recursive: true });
  const file = join(dir.path, 'train_data/1.pt');
  const bytes = await readFile(file);
  // The advantages of row 3, which has two trained tokens.
  const right = Buffer.from(Float32Array.of(0, 0.8660238981246948, 0.8660238981246948).buffer);
  const at = bytes.indexOf(right, bytes.indexOf(right) + 1);
  bytes.set(Buffer.from(Float32Array.of(0, 3, 3).buffer), at);
  await writeFile(file, bytes);
  const verified = captured();
  assert.equal(await verifyFiles([dir.path], {}, verified.io), 1, verified.err());
  const [, path, batch, row] = /explain (\S+) --batch '(.*)' --row (\d+)/.exec(verified.out()) ?? [];
  const explained = captured();
  assert.equal(await explainFile(path!, { batch, row: Number(row) }, explained.io), 0, explained.err());
  assert.match(explained.out(), /^Row 3 of step 1 is WRONG\n\n {2}reported {2}3\n/);
});
