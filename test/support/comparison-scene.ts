import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import type { ComparisonPlan } from 'echelon-client/calls';
import { parse as parseYaml } from 'yaml';
import type { EvaluationEvent, PlayedGame } from '../../src/core/events.ts';
import { makeChild } from '../../src/plan/sweep.ts';
import type { Store } from '../../src/store/store.ts';
import type { QueueScene } from './queue-scene.ts';
import { claimed } from './store.ts';
import { expandAll } from './sweep.ts';

/** How a run of a comparison ends. */
interface End {
  /** Its evaluation; null: it failed without one. */
  evaluation: EvaluationEvent | null;
  /** Success of a game in training, by step from 1 on. */
  curve?: readonly number[];
}

/** Ends a queued run of a comparison. */
export async function endRun(
  store: Store,
  experiment: string,
  { evaluation, curve = [] }: End,
): Promise<void> {
  const lease = await claimed(store, experiment);
  await store.attempts.confirm(lease);
  const cause = evaluation === null ? 'failed' : 'succeeded';
  const lastLines: string[] = [];
  const events = [
    ...curve.map((value, at) => ({
      ...({ type: 'metrics', step: at + 1, values: { 'val/success_rate': value } } as const),
    })),
    ...(evaluation === null ? [] : [evaluation]),
    { type: 'ended', cause, exitCode: 0, signal: 0, message: '', lastLines } as const,
  ];
  await store.events.append(
    lease,
    events.map((event, at) => ({ sequence: at + 1, at: 1000, event })),
  );
  await store.attempts.end(lease, { to: cause, reason: cause });
}

/** Submits the example's comparison, and ends its runs with the games of the real one in docs/evidence. Returns it and its runs. */
export async function keptComparison(
  { store, client }: Pick<QueueScene, 'store' | 'client'>,
  changes: Partial<ComparisonPlan> = {},
): Promise<{ id: string; runs: string[] }> {
  const plan = parseYaml(await readFile('deploy/examples/comparison.yaml', 'utf8')) as ComparisonPlan;
  const { id } = await client.post('/v1/comparisons', { body: { ...plan, ...changes } });
  const runs = await expandAll(store, id, makeChild);
  const games = await keptGames();
  for (const [at, run] of runs.entries()) {
    const method = plan.methods[at % 2]!.name;
    const seed = plan.seeds[Math.floor(at / 2)]!;
    const own = games.get(`${method} ${seed}`)!;
    const last = own.reduce((sum, { success }) => sum + success, 0) / own.length;
    const evaluation: EvaluationEvent = {
      ...{ type: 'evaluation', step: plan.step, panel: plan.panel, digest: 'd'.repeat(64) },
      ...{ decoding: { temperature: '1' }, games: own },
    };
    const curve = Array.from({ length: 10 }, (_one, step) => (last * (step + 1)) / 10);
    await endRun(store, run, { evaluation, curve });
  }
  return { id, runs };
}

async function keptGames(): Promise<Map<string, PlayedGame[]>> {
  const csv = gunzipSync(await readFile('docs/evidence/comparison-games.csv.gz'));
  const rows = parse(csv, { columns: true }) as Record<string, string>[];
  const games = new Map<string, PlayedGame[]>();
  for (const row of rows) {
    const run = `${row.method} ${row.seed}`;
    const [replicate, success, score, steps] = ['replicate', 'success', 'score', 'steps'].map((name) =>
      Number(row[name]),
    );
    const game = { game: row.game!, replicate: replicate!, success: success!, score: score!, steps: steps! };
    games.set(run, [...(games.get(run) ?? []), { ...game, invalidSteps: Number(row.invalid_steps) }]);
  }
  return games;
}
