import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { apiFor, keptOutput, runProgram } from '../../../../support/cli.ts';
import { running } from '../../../../support/store.ts';

const { store, client, connection } = await apiFor({ after });

const played = { replicate: 1, success: 1, score: 10, steps: 5, invalidSteps: 1 };
const evaluation = (step: number, digest: string, names = ['a', '=b']) =>
  ({
    type: 'evaluation',
    step,
    panel: 'rooms',
    digest,
    decoding: { temperature: '0.4' },
    games: names.map((game) => ({ game, ...played })),
  }) as const;

test('the games of an experiment are listed by evaluation, also those of one step, and printed as CSV', async () => {
  const lease = await running(store);
  const fixed = evaluation(0, 'a'.repeat(64));
  const events = [fixed, { type: 'stage', name: 's', step: 1, steps: 2 } as const, evaluation(2, '')];
  const numbered = events.map((event, at) => ({ sequence: at + 1, at: 1000, event }));
  await store.events.append(lease, numbered);
  // A repeated append adds nothing.
  await store.events.append(lease, numbered.slice(2));
  const read = (query: object) =>
    client.get('/v1/experiments/{id}/games', { path: { id: lease.experiment }, query });
  const first = await read({ limit: 1 });
  const { type: _type, ...fields } = fixed;
  assert.deepEqual(first.items, [{ attempt: 1, at: 1000, ...fields }]);
  const rest = await read({ cursor: first.next! });
  assert.deepEqual([rest.items.length, rest.items[0]?.step, rest.next], [1, 2, null]);
  assert.deepEqual((await read({ step: 2 })).items, rest.items);

  const run = async (...options: string[]) => {
    const output = keptOutput();
    await runProgram(output, ['games', lease.experiment, ...options, ...connection]);
    return output.lines.join('\n');
  };
  assert.match(
    await run(),
    /step 2, panel rooms \(sampled panel: .*\), temperature 0\.4\n[\s\S]*success 100\.0 %, over 2 different games in 2 draws/,
  );
  assert.match(await run('--step', '0'), /digest aaaaaaaaaaaa/);
  const csv = (await run('--csv')).split('\n');
  assert.deepEqual([csv.length, csv[2]], [5, `1,0,rooms,${'a'.repeat(64)},'=b,1,1,10,5,1`]);
});

test('each game of a sampled panel counts equally, however often it was drawn', async () => {
  const lease = await running(store);
  const drawn = evaluation(1, '', ['a', 'a', 'a', 'b']);
  const games = drawn.games.map((one, at) => ({ ...one, replicate: at + 1, success: Number(at === 3) }));
  await store.events.append(lease, [{ sequence: 1, at: 1000, event: { ...drawn, games } }]);
  const output = keptOutput();
  await runProgram(output, ['games', lease.experiment, ...connection]);
  assert.match(output.lines.join('\n'), /^success 50\.0 %, over 2 different games in 4 draws$/m);
});
