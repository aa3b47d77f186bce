import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createSlurm, SlurmError } from '../../../../../src/dispatch/clusters/slurm/commands.ts';
import type { SlurmPlace } from '../../../../../src/store/clusters/types.ts';

const HOSTILE = [
  `$(touch made)`,
  '`touch made`',
  `'; touch made; '`,
  'a b\nc',
  '"',
  '\\',
  '*',
  '|',
  '--wrap=x',
];

/** Programs in the place of Slurm's and OpenSSH's: they record their arguments, and `ssh` runs its command in a shell as sshd does. */
const PROGRAMS = {
  sbatch:
    'for one in "$@"; do printf "%s\\0" "$one"; done >"$PLACE/arguments"; echo "banner of a plugin"; echo "4711;here"',
  squeue: 'cat "$PLACE/listed"; cat "$PLACE/said" >&2; exit "$(cat "$PLACE/code")"',
  ssh: 'while [ "$1" != -- ]; do shift; done; echo "Welcome to login"; cd "$PLACE" && exec sh -c "$3"',
};

describe("Slurm's commands", () => {
  let place: string;
  const path = process.env.PATH;
  before(() => {
    place = mkdtempSync(join(tmpdir(), 'slurm-commands-'));
    for (const [name, text] of Object.entries(PROGRAMS)) {
      const file = join(place, name);
      writeFileSync(file, `#!/bin/sh\nPLACE=${place}\n${text}\n`);
      chmodSync(file, 0o755);
    }
    process.env.PATH = `${place}:${path}`;
  });
  after(() => {
    process.env.PATH = path;
    rmSync(place, { recursive: true });
  });

  for (const ssh of [null, 'login'])
    describe(ssh === null ? 'on this machine' : 'by OpenSSH', () => {
      const where = { ssh } as SlurmPlace;

      test('get each argument as it is, and nothing else is run', async () => {
        const job = {
          name: 'echelon-a-node',
          comment: 'i/r',
          options: HOSTILE,
          script: '/s/node.sh',
          args: HOSTILE,
        };
        assert.equal(await createSlurm().submit(where, job), '4711');
        const given = readFileSync(join(place, 'arguments'), 'utf8').split('\0').slice(0, -1);
        assert.deepEqual(given.slice(3), [...HOSTILE, '/s/node.sh', ...HOSTILE]);
        assert.ok(!existsSync(join(place, 'made')) && !existsSync('made'));
      });

      test('write a file that only its user reads, and read its end', async () => {
        const file = join(place, `it's $(here)`, 'token');
        await createSlurm().write(where, file, 'secret');
        assert.equal(statSync(file).mode & 0o777, 0o600);
        assert.equal(await createSlurm().read(where, file), 'secret');
        assert.equal(await createSlurm().read(where, `${file}-absent`), null);
      });

      test('list the jobs of Echelon, whatever their reasons contain', async () => {
        writeFileSync(join(place, 'code'), '0');
        writeFileSync(join(place, 'said'), '');
        const lines = [
          '7|PENDING|1700000000|N/A|i/r|echelon-a-node|(Nodes|required)',
          '8|RUNNING|1700000000|1700003600||someone|None',
        ];
        writeFileSync(join(place, 'listed'), `${lines.join('\n')}\n`);
        assert.deepEqual(await createSlurm().list(where), [
          {
            ...{
              job: '7',
              name: 'echelon-a-node',
              comment: 'i/r',
              state: 'PENDING',
              reason: '(Nodes|required)',
            },
            ...{ startsAt: 1_700_000_000_000, endsAt: null },
          },
        ]);
      });

      test('tell a refusal from a silence', async () => {
        const kindOf = async (said: string) => {
          writeFileSync(join(place, 'code'), '1');
          writeFileSync(join(place, 'said'), said);
          const error = await createSlurm()
            .list(where)
            .catch((one: unknown) => one);
          assert.ok(error instanceof SlurmError);
          return error.kind;
        };
        assert.equal(await kindOf('squeue: error: Invalid user'), 'refused');
        assert.equal(
          await kindOf('slurm_load_jobs error: Unable to contact slurm controller (connect failure)'),
          'silent',
        );
      });
    });

  test('a program that is not there is a silence: nothing is known', async () => {
    const empty = join(place, 'empty');
    mkdirSync(empty);
    symlinkSync('/bin/sh', join(empty, 'sh'));
    process.env.PATH = empty;
    const error = await createSlurm()
      .list({ ssh: null } as SlurmPlace)
      .catch((one: unknown) => one);
    process.env.PATH = `${place}:${path}`;
    assert.ok(error instanceof SlurmError && error.kind === 'silent');
  });
});
