import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { presetsCommand } from '../../../../src/cli/commands/presets.ts';
import { PRESETS } from '../../../../src/plan/verl-agent/presets.ts';

async function presets(...args: string[]): Promise<string> {
  const lines: string[] = [];
  const output = { line: (text = '') => lines.push(text), remark: (text: string) => lines.push(text) };
  await presetsCommand(output as Parameters<typeof presetsCommand>[0]).parseAsync(args, { from: 'user' });
  return lines.join('\n');
}

describe('echelon presets', () => {
  test('lists all', async () => {
    const shown = await presets();
    for (const { name, title } of PRESETS) assert.ok(shown.includes(name) && shown.includes(title), name);
    assert.deepEqual(JSON.parse(await presets('--json')), JSON.parse(JSON.stringify(PRESETS)));
  });

  test("prints one with the paper's figures beside", async () => {
    const shown = await presets('paper-main-table');
    assert.match(shown, /HGPO K=4 7b webshop .* 90\.49 +79\.29/);
    const { name, runs } = JSON.parse(await presets('paper-history-ablation', '--json'));
    assert.equal(name, 'paper-history-ablation');
    assert.equal(runs.length, 4);
  });

  test('names the nearest', async () => {
    await assert.rejects(presets('paper-main-tabel'), {
      exitCode: 2,
      message: /did you mean paper-main-table/,
    });
  });
});
