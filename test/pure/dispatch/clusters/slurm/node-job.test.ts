import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

const SCRIPT = new URL('../../../../../deploy/slurm/node.sh', import.meta.url).pathname;

/** Stands for the Ray of a node: `python` says its version, and `ray start` ends at once. */
const PROGRAMS = (version: string) => ({ python: `echo ${version}`, ray: 'echo "$@"', scontrol: '' });

describe('the job of a node', () => {
  let place: string;
  before(() => {
    place = mkdtempSync(join(tmpdir(), 'slurm-job-'));
  });
  after(() => rmSync(place, { recursive: true }));

  function run(version: string, [role, head, exclusive]: [string, string, string], notes = place) {
    for (const [name, text] of Object.entries(PROGRAMS(version))) {
      writeFileSync(join(place, name), `#!/bin/sh\n${text}\n`);
      chmodSync(join(place, name), 0o755);
    }
    rmSync(join(place, '7.log'), { force: true });
    const args = [SCRIPT, role, notes, place, head, '1', '1', exclusive];
    const env = { PATH: `${place}:${process.env.PATH}`, SLURM_JOB_ID: '7' };
    const { status } = spawnSync('bash', args, { env, timeout: 60_000 });
    const log = join(place, '7.log');
    return { status, log: existsSync(log) ? readFileSync(log, 'utf8') : '' };
  }

  test('starts no Ray without tokens on a node that others share', () => {
    const { status, log } = run('2.51.2', ['head', '-', 'no']);
    assert.equal(status, 1);
    assert.match(log, /Ray 2\.51\.2 knows no tokens.* use Ray 2\.52 or newer, or --exclusive/);
    assert.doesNotMatch(log, /--head/);
  });

  test('starts it on a node of its own, and a newer one anywhere', () => {
    assert.match(run('2.51.2', ['head', '-', 'yes']).log, /--head/);
    assert.match(run('2.52.0', ['head', '-', 'no']).log, /--head/);
  });

  test('a head that was started again says where its new Ray is', () => {
    writeFileSync(join(place, '7.json'), '{"head":"of the former run"}');
    run('2.51.2', ['head', '-', 'yes']);
    assert.match(readFileSync(join(place, '7.json'), 'utf8'), /^\{"job":"7","head":"[\d.]+:4028"/);
  });

  test('a node that cannot reach its head says so, and ends as failed', () => {
    const { status, log } = run('2.60.0', ['node', '127.0.0.1:1', 'no']);
    assert.equal(status, 1);
    assert.match(log, /cannot reach the head's Ray at 127\.0\.0\.1:1/);
  });

  test('notes of another user are refused', { skip: process.getuid?.() !== 0 }, () => {
    const foreign = mkdtempSync(join(tmpdir(), 'slurm-foreign-'));
    spawnSync('chown', ['65534', foreign]);
    assert.equal(run('2.60.0', ['head', '-', 'no'], foreign).status, 1);
    assert.match(readFileSync(join(foreign, '7.log'), 'utf8'), /belongs to another user/);
    rmSync(foreign, { recursive: true });
  });
});
