import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { allPresets } from '../../../../src/engines/registry.ts';
import { apiFor, keptOutput, runProgram } from '../../../support/cli.ts';

async function presets(...args: string[]): Promise<string> {
  const lines: string[] = [];
  const output = { line: (text = '') => lines.push(text), remark: (text: string) => lines.push(text) };
  const { error } = await runProgram(output, ['presets', ...args]);
  if (error) throw error;
  return lines.join('\n');
}

describe('echelon presets', () => {
  test('without a command lists all presets', async () => {
    const shown = await presets();
    for (const { name, title } of allPresets())
      assert.ok(shown.includes(name) && shown.includes(title), name);
    assert.deepEqual(JSON.parse(await presets('--json')), JSON.parse(JSON.stringify(allPresets())));
  });

  test("ls shows the trainings of a preset with the paper's figures", async () => {
    const shown = await presets('ls', 'paper-main-table');
    assert.match(shown, /HGPO K=4 7b webshop .* 90\.49 +79\.29/);
    const { name, runs } = JSON.parse(await presets('ls', 'paper-history-ablation', '--json'));
    assert.equal(name, 'paper-history-ablation');
    assert.equal(runs.length, 4);
  });

  test('ls names the nearest preset for an unknown name', async () => {
    await assert.rejects(presets('ls', 'paper-main-tabel'), {
      exitCode: 2,
      message: /Did you mean paper-main-table/,
    });
  });
});

describe('echelon presets submit', async () => {
  const { store, connection } = await apiFor({ after });
  const submit = async (...args: string[]) => {
    const output = keptOutput();
    return { output, ...(await runProgram(output, ['presets', 'submit', ...args, ...connection])) };
  };

  test('echelon presets submit is one call, and a repeated key the same sweep', async () => {
    const args = [
      'paper-history-ablation',
      '--idempotency-key',
      'k',
      '--home',
      '/opt/verl-agent',
      '--checkpoint-label',
      'again',
    ];
    const [first, again] = [await submit(...args), await submit(...args)];
    assert.equal(first.exitCode, 0, String(first.error));
    assert.deepEqual(first.output.lines, again.output.lines);
    assert.deepEqual(first.output.remarks, ['16 children']);
    const sweep = (await store.sweeps.get(first.output.lines[0]!))!;
    const { children } = sweep.spec as { children: { spec: { home: string } }[] };
    assert.ok(children.every(({ spec }) => spec.home === '/opt/verl-agent'));
  });

  test('echelon presets submit runs the trainings that are named', async () => {
    const { output } = await submit('paper-main-table', '--only', 'HGPO K=4 7b alfworld', '--json');
    assert.equal(output.json<{ count: number }>().count, 7);
    assert.equal((await submit('paper-main-table', '--only', 'HGPO')).exitCode, 4);
  });
});
