import assert from 'node:assert/strict';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { verifyFiles } from '../../src/cli/verify-files.ts';
import { encodeBatch } from '../../src/format/batch-wire.ts';
import { writeBundle } from '../../src/format/bundle.ts';
import { verifyBatch } from '../../src/verify/verify-batch.ts';
import { captured } from '../support/captured.ts';
import { DUMPS, folder as dumpFolder } from '../support/dump-files.ts';
import { goldenBatch, inForms } from '../support/golden-batches.ts';
import { reportBy } from '../support/mutants/tools.ts';

const GOLDEN = 'test/golden/hgpo-large.json.gz';

describe('echelon verify', () => {
  let folder = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'echelon-verify-'));
  });
  after(() => rm(folder, { recursive: true }));

  async function wrongFile(): Promise<string> {
    const path = join(folder, 'wrong.pb');
    await writeFile(
      path,
      encodeBatch(reportBy(inForms(goldenBatch('alfworld-scale'), 'recipe'), { weightOffset: 1 })),
    );
    return path;
  }

  test('says ok of a clean file', async () => {
    const streams = captured();
    assert.equal(await verifyFiles([GOLDEN], {}, streams.io), 0);
    assert.match(streams.out(), /alfworld-scale +4621 +4621 +0 +0 +0 +ok/);
    assert.match(streams.out(), /1 of 1 batches ok; 4,621 rows: 4,621 exact/);
  });

  test('names with line feeds forge no line and give a runner no command', async () => {
    const forged = '\n::error file=a::forged\n1 of 1 batches ok';
    const name = (end: string) => join(folder, `a${forged}${end}`);
    const wrong = reportBy(inForms(goldenBatch('alfworld-scale'), 'recipe'), { weightOffset: 1 });
    await writeFile(name('.pb'), encodeBatch({ ...wrong, name: `b${forged}` }));
    await writeFile(name('-broken.pb'), 'no batch');
    await writeFile(name('.txt'), 'no dump');
    const streams = captured();
    assert.equal(await verifyFiles([folder, join(folder, `absent${forged}`)], {}, streams.io), 2);
    assert.match(streams.out(), /b\\u000a::error/);
    for (const line of `${streams.out()}${streams.err()}`.split('\n'))
      assert.doesNotMatch(line, /^\s*(?:::|1 of 1 batches ok$)/);
    await rm(name('.pb'));
    await rm(name('-broken.pb'));
    await rm(name('.txt'));
  });

  test('a table with the columns of a stated mapping is read without --from', async () => {
    const path = join(folder, 'run.csv');
    await writeFile(path, 'prompt_id,score,adv\np,1,0.75\np,0,-0.25\np,0,-0.25\np,0,-0.25\n');
    const map = { group: 'prompt_id', reward: 'score', advantage: 'adv' };
    const stated = { map, estimator: 'grpo', params: { normalizeByStd: false } } as const;
    const streams = captured();
    assert.equal(await verifyFiles([path], stated, streams.io), 0);
    assert.match(streams.out(), /4 rows: 4 exact/);
    assert.equal(await verifyFiles([path], { map: { ...map, reward: 'other' } }, streams.io), 2);
  });

  test('a bundle is reported with its origin and with the comparison of its stored report', async () => {
    const batch = goldenBatch('alfworld-scale');
    const bundle = async (name: string, report: unknown) => {
      const origin = { experiment: 'exp-1', attempt: 1, batch: 2, step: 2, digest: '', version: '9.9.9' };
      await writeFile(join(folder, name), writeBundle(batch, { ...origin, report }));
      const streams = captured();
      assert.equal(await verifyFiles([join(folder, name)], {}, streams.io), 0);
      return streams.out();
    };
    const report = verifyBatch(batch);
    assert.match(
      await bundle('same', report),
      /batch 2 of attempt 1 of exp-1, written by 9\.9\.9: equal to the stored report/,
    );
    assert.match(await bundle('other', { ...report, exact: 1 }), /: DIFFERS from the stored report/);
    assert.match(await bundle('none', null), /: no stored report to compare with/);
  });

  test('says what is wrong, with exit status 1', async () => {
    const streams = captured();
    assert.equal(await verifyFiles([GOLDEN, await wrongFile()], {}, streams.io), 1);
    assert.match(streams.out(), /NOT OK/);
    assert.match(
      streams.out(),
      /error {3}wrong-rows: 2,939 rows of 4,621 cannot be right: .*Likely cause: levels weigh \(k\+1\)\^alpha/,
    );
  });

  test('as JSON, with the promised fields', async () => {
    const streams = captured();
    assert.equal(await verifyFiles([await wrongFile()], { json: true }, streams.io), 1);
    const { batches } = JSON.parse(streams.out()) as { batches: Record<string, unknown>[] };
    const [batch] = batches;
    for (const key of [
      'name',
      'rows',
      'exact',
      'rounding',
      'wrong',
      'unverifiable',
      'wrongRows',
      'roundingRows',
    ]) {
      assert.ok(key in batch!, key);
    }
    assert.deepEqual([batch!.ok, batch!.wrong], [false, 2939]);
    assert.deepEqual(Object.keys((batch!.findings as object[])[0]!), ['code', 'severity', 'rows', 'message']);
  });

  test('unreadable input is exit status 2 with file, batch, field and what was expected; the rest is reported', async () => {
    const path = join(folder, 'bad.json');
    const bad = { name: 'b1', params: { historyLength: 'two' }, group: ['g'], trajectory: ['t'] };
    await writeFile(path, JSON.stringify({ format: 'echelon-batch/1', batches: [bad] }));
    const streams = captured();
    assert.equal(await verifyFiles([path, GOLDEN, join(folder, 'none.json')], {}, streams.io), 2);
    assert.match(streams.err(), /bad\.json, batch b1, field params\.historyLength: expected an integer/);
    assert.match(streams.err(), /Cannot read .*none\.json: there is no such file/);
    assert.match(streams.out(), /1 of 1 batches ok/);
  });

  test('a batch that lacks columns is not verified, and not ok', async () => {
    const path = join(folder, 'poor.pb');
    const { reportedAdvantage: _, ...silent } = goldenBatch('one-step-episodes');
    await writeFile(path, encodeBatch(silent));
    const streams = captured();
    assert.equal(await verifyFiles([path], {}, streams.io), 1);
    assert.match(streams.out(), /not verified/);
    assert.match(streams.out(), /warning advantages-missing/);
  });
});

describe('echelon verify of several runs', () => {
  const runs = ['decimal', 'none'].map((name) => `${DUMPS}/trl/${name}/completions`);

  test('each run has a head with its configuration, and the exit status is the worst', async () => {
    const streams = captured();
    assert.equal(await verifyFiles(runs, {}, streams.io), 0);
    const heads = streams
      .out()
      .split('\n')
      .filter((line) => line.includes('found in'));
    assert.deepEqual(
      heads.map((line) => /found in (\S+)/.exec(line)?.[1]),
      ['decimal', 'none'].map((name) => `${DUMPS}/trl/${name}/training_args.bin`),
    );
    const wrong = captured();
    assert.equal(await verifyFiles(runs, { params: { normalizeByStd: false }, json: true }, wrong.io), 1);
    const { batches } = JSON.parse(wrong.out()) as { batches: { ok: boolean; run: string }[] };
    assert.deepEqual(
      batches.map(({ ok, run }) => [run, ok]),
      runs.flatMap((run, i) => Array.from({ length: 3 }, () => [run, i === 1])),
    );
  });

  test('a run without a configuration is not judged by that of the run whose folder it lies in', async () => {
    await using dir = await dumpFolder();
    await cp(`${DUMPS}/trl/none`, dir.path, { recursive: true });
    await cp(`${DUMPS}/trl/decimal/completions`, join(dir.path, 'other'), { recursive: true });
    const streams = captured();
    assert.equal(await verifyFiles([dir.path], { json: true }, streams.io), 3, streams.err());
    const { batches } = JSON.parse(streams.out()) as {
      batches: { ok: boolean; wrong: number; configuration: { origin: string } }[];
    };
    assert.deepEqual(
      batches.map(({ ok, wrong, configuration }) => [ok, wrong, configuration.origin]),
      [...Array(3).fill([true, 0, 'found']), ...Array(3).fill([false, 0, 'inferred'])],
    );
  });
});

test('a capitalised ending is read in a folder, and a folder without dumps is named', async () => {
  await using dir = await dumpFolder();
  const empty = captured();
  assert.equal(await verifyFiles([dir.path], {}, empty.io), 2);
  assert.match(empty.err(), /no file that can be a batch or a dump/);
  await cp(`${DUMPS}/trl/group/completions/completions_00001.parquet`, join(dir.path, 'STEP.PARQUET'));
  await cp(`${DUMPS}/slime/rollout_data/1.pt`, join(dir.path, 'STEP.PT'));
  const streams = captured();
  await verifyFiles([dir.path], {}, streams.io);
  assert.match(streams.out(), /TRL completions/);
  assert.match(streams.out(), /slime dumps/);
});
