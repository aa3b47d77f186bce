import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { apiFor, keptOutput, runProgram } from '../../../support/cli.ts';

const directory = await mkdtemp(join(tmpdir(), 'echelon-bundle-'));
after(() => rm(directory, { recursive: true, force: true }));

async function run(...argv: string[]) {
  const output = keptOutput();
  return { output, ...(await runProgram(output, ['batches', ...argv])) };
}

test('writes what the API answers, byte for byte', async () => {
  const bytes = Buffer.from([0x1f, 0x8b, 0, 255, 10]);
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    response.end(bytes);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const file = join(directory, 'b.json.gz');
  const { output } = await run(
    'exp-00cz8h3k7n2q4r5s6t7v',
    '2',
    '3',
    '--save',
    file,
    '--url',
    `http://127.0.0.1:${port}`,
    '--token',
    't',
  );
  server.close();
  assert.deepEqual(asked, ['/v1/experiments/exp-00cz8h3k7n2q4r5s6t7v/batches/2/3/bundle']);
  assert.deepEqual(await readFile(file), bytes);
  assert.deepEqual(output.lines, [file]);
});

test('a batch that is not there, and a place that cannot be written', async () => {
  const { connection } = await apiFor({ after });
  const absent = await run('exp-00cz8h3k7n2q4r5s6t7v', '1', '1', '--save', '/nowhere/b', ...connection);
  assert.equal(absent.exitCode, 4);
  await assert.rejects(
    run('exp-00cz8h3k7n2q4r5s6t7v', '0', '1', '--save', 'b', ...connection),
    /must be a whole number from 1/,
  );
});
