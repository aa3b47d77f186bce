import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { CliError, EXIT } from 'command-kit/exit';
import { experimentNamed, named, sweepNamed } from '../../../src/cli/names.ts';
import { apiFor } from '../../support/cli.ts';
import { submitInput } from '../../support/store.ts';

const { store, client } = await apiFor({ after });

const fails = (exitCode: number, pattern: RegExp) => (error: unknown) =>
  error instanceof CliError && error.exitCode === exitCode && pattern.test(error.message);

async function submitted(id: string, name: string): Promise<string> {
  await store.experiments.submit(submitInput({ id, name }));
  return id;
}

test('@last is refused with a message if there is no experiment or sweep', async () => {
  await assert.rejects(
    experimentNamed(client, '@last'),
    fails(EXIT.refused, /^There is no experiment yet\.$/),
  );
  await assert.rejects(sweepNamed(client, '@last'), fails(EXIT.refused, /^There is no sweep yet\.$/));
});

test('an experiment is found by its id, a prefix of its id, its name or @last', async () => {
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

test('a name of emoji is found, which has more units than characters', async () => {
  const id = await submitted('exp-00aaccccccccccccccc9', '🔬'.repeat(51));
  assert.equal(await experimentNamed(client, '🔬'.repeat(51)), id);
});

test('a full id needs no request', async () => {
  const offline = { get: () => assert.fail('asked') } as unknown as typeof client;
  const id = 'exp-00zzzzzzzzzzzzzzzzzz';
  assert.equal(await experimentNamed(offline, id), id);
  const sweep = { kind: 'sweep', id: 'swp-00zzzzzzzzzzzzzzzzzz' };
  assert.deepEqual(await named(offline, sweep.id, ['experiment', 'sweep']), sweep);
});

test('an ambiguous prefix, an ambiguous name and an unknown name are refused', async () => {
  await submitted('exp-00ccccccccccccccccc1', 'duplicate');
  await submitted('exp-00ccccccccccccccccc2', 'duplicate');
  for (const text of ['00cccc', 'duplicate'])
    await assert.rejects(
      experimentNamed(client, text),
      fails(
        EXIT.usage,
        /matches several\. Give the id of one of them:\n {2}exp-00c+2 .*\n {2}exp-00c+1 .* duplicate$/,
      ),
    );
  for (const text of ['00dddd', 'absent', '', 'x'.repeat(200), 'swp-00aa'])
    await assert.rejects(
      experimentNamed(client, text),
      fails(EXIT.refused, /^There is no experiment .*echelon ls/),
    );
});

test('a sweep is found as an experiment is, and not confused with one', async () => {
  const { id } = await client.post('/v1/sweeps', {
    body: { name: 'swept', method: 'grid', spec: { engine: 'replay' }, axes: { 'replay.batches': [1] } },
  });
  for (const text of [id, id.slice(0, 12), 'swept', '@last'])
    assert.equal(await sweepNamed(client, text), id);
  assert.deepEqual(await named(client, 'swept', ['experiment', 'sweep']), { kind: 'sweep', id });
  await assert.rejects(
    sweepNamed(client, 'absent'),
    fails(EXIT.refused, /There is no sweep "absent"\. List names and ids with `echelon sweeps`/),
  );
});
