import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { identifyFile, showKnownForm } from '../../src/cli/identify-file.ts';
import { captured } from '../support/captured.ts';

const TABLE = 'group,reward,advantage\na,1,0.75\na,0,-0.25\na,0,-0.25\na,0,-0.25\nb,3,1\nb,1,-1\n';

async function* input(...texts: string[]): AsyncGenerator<string> {
  yield* texts;
}

describe('echelon identify', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'identify-'));
  });
  after(async () => {
    await rm(folder, { recursive: true });
  });

  test('a table on standard input is identified, and the exit status says that a fit is no proof', async () => {
    const { io, out } = captured();
    assert.equal(
      await identifyFile(undefined, {}, { ...io, stdin: input(TABLE.slice(0, 30), TABLE.slice(30)) }),
      3,
    );
    assert.match(
      out(),
      /^consistent with grpo\(std=none,singleton=zero,over=rows\), inferred; \d variants fit/,
    );
    assert.match(out(), /prime-rl\/grpo/);
    assert.match(out(), /a group of one row with reward 0\.7 \(row 0: 0 by the first, 0\.7 by this\)/);
    assert.match(out(), /not tried, since the file lacks responseLength: .*verl\/opo/);
  });

  test('columns of other names are identified by their mapping', async () => {
    const { io, out } = captured();
    const file = join(folder, 'mapped.csv');
    await writeFile(file, TABLE.replace('group,reward,advantage', 'prompt,score,adv'));
    const map = { group: 'prompt', reward: 'score', advantage: 'adv' };
    assert.equal(await identifyFile(file, { map }, io), 3);
    assert.match(out(), /^consistent with grpo\(std=none/);
  });

  test('statistics over the whole batch, which no form has, are named', async () => {
    const reward = [1, 0, 0.2, 0.4, 3, 1.5];
    const mean = reward.reduce((sum, x) => sum + x, 0) / reward.length;
    const deviation = Math.sqrt(reward.reduce((sum, x) => sum + (x - mean) ** 2, 0) / (reward.length - 1));
    for (const [divisors, words] of [
      [
        reward.map(() => deviation),
        'the mean and deviation were taken over the whole batch, not over each group',
      ],
      [
        reward.map(() => 1),
        'the mean was taken over the whole batch, not over each group, and nothing was divided',
      ],
    ] as const) {
      const lines = reward.map((x, row) => `${row < 3 ? 'a' : 'b'},${x},${(x - mean) / divisors[row]!}\n`);
      const { io, out } = captured();
      const table = `group,reward,advantage\n${lines.join('')}`;
      assert.equal(await identifyFile(undefined, {}, { ...io, stdin: input(table) }), 1);
      assert.match(out(), new RegExp(`^Likely cause, if [a-z-]+/grpo was meant: ${words}\\.$`, 'm'));
    }
  });

  test('advantages in bfloat16 are named as such, and fit once the precision is stated', async () => {
    // GRPO of 0.1, 0.35, 0.7 and 1, to 8 bits.
    const rounded =
      'group,reward,advantage\na,0.1,-1.109375\na,0.35,-0.474609375\na,0.7,0.412109375\na,1,1.171875\n';
    const { io, out } = captured();
    assert.equal(await identifyFile(undefined, {}, { ...io, stdin: input(rounded) }), 1);
    assert.match(out(), /The values look rounded to bfloat16\. Try --precision bfloat16-output/);
    const stated = captured();
    const options = { precision: 'bfloat16-output' } as const;
    assert.equal(await identifyFile(undefined, options, { ...stated.io, stdin: input(rounded) }), 3);
    assert.match(stated.out(), /verl\/grpo/);
  });

  test('JSON lines in a file are identified as JSON', async () => {
    const file = join(folder, 'table.jsonl');
    const rows = [
      [1, 3],
      [0, -1],
      [0, -1],
      [0, -1],
    ].map(([reward, advantage]) => JSON.stringify({ group: 'a', reward, advantage }));
    await writeFile(file, `${rows.join('\n')}\n`);
    const { io, out } = captured();
    assert.equal(await identifyFile(file, { json: true }, io), 3);
    const found = JSON.parse(out()) as {
      summary: string;
      fits: { forms: { id: string }[] }[];
      others: unknown[];
    };
    assert.match(found.summary, /inferred/);
    assert.ok(found.fits.some(({ forms }) => forms.some(({ id }) => id === 'prime-rl/max-rl')));
    assert.ok(found.others.length > 10);
  });

  test('advantages that no form gives end with status 1', async () => {
    const { io, out } = captured();
    const swapped = TABLE.replace('0.75', 'x').replace('-0.25', '0.75').replace('x', '-0.25');
    assert.equal(await identifyFile('-', {}, { ...io, stdin: input(swapped) }), 1);
    assert.match(out(), /^no known form explains all rows/);
  });

  test('blocks are stated or found if the table has no groups', async () => {
    const plain = `reward,advantage\n${TABLE.split('\n').slice(1, 5).join('\n').replaceAll('a,', '')}\n5,2.5\n0,-2.5\n0,-2.5\n5,2.5\n`;
    const found = captured();
    assert.equal(await identifyFile('-', {}, { ...found.io, stdin: input(plain) }), 3);
    assert.match(found.out(), /blocks of 4, inferred/);
    const stated = captured();
    assert.equal(await identifyFile('-', { groupSize: 2 }, { ...stated.io, stdin: input(plain) }), 1);
  });

  test('a known form is printed with its source and its values, and an unknown id ends with status 2', () => {
    const { io, out, err } = captured();
    assert.equal(showKnownForm('verl/grpo', {}, io), 0);
    assert.match(out(), /verl-project\/verl@1dda039b:verl\/trainer\/ppo\/core_algos\.py:316/);
    assert.match(out(), /rewards 1, 0, 0, 0 +1\.5, -0\.5, -0\.5, -0\.5/);
    assert.equal(showKnownForm('verl/grop', {}, io), 2);
    assert.match(err(), /did you mean verl\/grpo\?/);
  });

  test('a file that is not there, and one that is no table, end with status 2 and a sentence', async () => {
    const { io, err } = captured();
    assert.equal(await identifyFile(join(folder, 'absent.csv'), {}, io), 2);
    assert.match(err(), /Cannot read .*absent\.csv: there is no such file/);
    const binary = captured();
    assert.equal(await identifyFile('-', {}, { ...binary.io, stdin: input('\u0000\u0001\u0002') }), 2);
    assert.notEqual(binary.err(), '');
  });
});
