import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { CliError, EXIT } from '../../../src/cli/exit.ts';
import { experimentNamed, named, sweepNamed } from '../../../src/cli/names.ts';
import type { SweepAccepted } from '../../../src/schemas/sweep.ts';
import { apiFor } from '../../support/cli.ts';
import { submitInput } from '../../support/store.ts';

const { store, client } = await apiFor({ after });

const fails = (exitCode: number, pattern: RegExp) => (error: unknown) =>
  error instanceof CliError && error.exitCode === exitCode && pattern.test(error.message);

async function submitted(id: string, name: string): Promise<string> {
  await store.experiments.submit(submitInput({ id, name }));
  return id;
}

test('@last of an empty API is refused in a sentence', async () => {
  await assert.rejects(
    experimentNamed(client, '@last'),
    fails(EXIT.refused, /^There is no experiment yet\.$/),
  );
  await assert.rejects(sweepNamed(client, '@last'), fails(EXIT.refused, /^There is no sweep yet\.$/));
});

test('an experiment is named by its id, the start of it, its name or @last', async () => {
  const first = await submitted('exp-00aaaaaaaaaaaaaaaaa1', 'first');
  const second = await submitted('exp-00aabbbbbbbbbbbbbbb2', 'second');
  for (const text of [first, 'exp-00aaa', '00aaa', 'first'])
    assert.equal(await experimentNamed(client, text), first);
  for (const text of ['second', '@last', '00aab']) assert.equal(await experimentNamed(client, text), second);
  assert.deepEqual(await named(client, 'second', ['experiment', 'sweep']), {
    kind: 'experiment',
    id: second,
  });
});

test('a full id is not looked up, whether or not it is there', async () => {
  const nobody = { get: () => assert.fail('asked') } as unknown as typeof client;
  const id = 'exp-00zzzzzzzzzzzzzzzzzz';
  assert.equal(await experimentNamed(nobody, id), id);
  const sweep = { kind: 'sweep', id: 'swp-00zzzzzzzzzzzzzzzzzz' };
  assert.deepEqual(await named(nobody, sweep.id, ['experiment', 'sweep']), sweep);
});

test('the start of several ids, a name that several have, and an unknown one are refused', async () => {
  await submitted('exp-00ccccccccccccccccc1', 'twin');
  await submitted('exp-00ccccccccccccccccc2', 'twin');
  for (const text of ['00cccc', 'twin'])
    await assert.rejects(
      experimentNamed(client, text),
      fails(
        EXIT.usage,
        /more than one; name one of them by its id:\n {2}exp-00c+2 .*\n {2}exp-00c+1 .* twin$/,
      ),
    );
  for (const text of ['00dddd', 'nobody', '', 'x'.repeat(200), 'swp-00aa'])
    await assert.rejects(
      experimentNamed(client, text),
      fails(EXIT.refused, /^There is no experiment .*echelon ls/),
    );
});

test('a sweep is named as an experiment is, and apart from one', async () => {
  const { id } = await client.post<SweepAccepted>('/v1/sweeps', {
    ...{ name: 'swept', method: 'grid', spec: { engine: 'replay' }, axes: { 'replay.batches': [1] } },
  });
  for (const text of [id, id.slice(0, 12), 'swept', '@last'])
    assert.equal(await sweepNamed(client, text), id);
  assert.deepEqual(await named(client, 'swept', ['experiment', 'sweep']), { kind: 'sweep', id });
  await assert.rejects(
    sweepNamed(client, 'nobody'),
    fails(EXIT.refused, /There is no sweep "nobody"; `echelon sweep ls`/),
  );
});
