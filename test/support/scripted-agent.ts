import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { glob, readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '../../src/cli/client.ts';

/** What the scripted endpoint counts: see echelon_rayworker.engines.prompt.scripted. */
export interface Counts {
  requests: number;
  /** Answers. */
  paid: number;
  /** Answers to calls that were answered before. */
  repeated: number;
  inFlight: number;
  held: number;
}

/** The endpoint with a scripted agent, in a process of its own. */
export interface ScriptedAgent {
  baseUrl: string;
  counts(): Promise<Counts>;
  /** While true, requests wait, unanswered and unpaid. */
  hold(held: boolean): Promise<void>;
  /** Waits until a count is reached. */
  until(what: string, holds: (counts: Counts) => boolean | Promise<boolean>): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the endpoint as the example's own command does. */
export async function startScriptedAgent(): Promise<ScriptedAgent> {
  const child: ChildProcess = spawn(
    process.env.ECHELON_PYTHON ?? '.venv/bin/python',
    ['-m', 'echelon_rayworker.engines.prompt.scripted', '--port', '0'],
    {
      env: { ...process.env, PYTHONPATH: 'deploy/ray-worker:deploy/capture' },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const [line] = (await once(createInterface({ input: child.stdout! }), 'line')) as [string];
  const baseUrl = /http:\S+/.exec(line)![0];
  const control = new URL('/control', baseUrl);
  const counts = async () => (await (await fetch(control)).json()) as Counts;
  return {
    baseUrl,
    counts,
    async hold(held) {
      await fetch(control, { method: 'POST', body: JSON.stringify({ hold: held }) });
    },
    async until(what, holds) {
      const deadline = Date.now() + 60_000;
      for (;;) {
        const now = await counts();
        if (await holds(now)) return;
        if (Date.now() > deadline) throw new Error(`not in time: ${what}; ${JSON.stringify(now)}`);
        await delay(20);
      }
    },
    async stop() {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}

/** Responses in the record of an experiment below a directory. */
export async function recordedResponses(directory: string, experiment: string): Promise<number> {
  for await (const file of glob(`${directory}/**/${experiment}/responses.jsonl`)) {
    return (await readFile(file, 'utf8')).split('\n').filter((line) => line.includes('"text"')).length;
  }
  return 0;
}

/** The last value of each metric of an experiment. */
export async function lastMetrics(client: Client, id: string): Promise<Record<string, number>> {
  const { items } = await client.get('/v1/experiments/{id}/metrics/names', { path: { id } });
  return Object.fromEntries(items.map(({ name, last }) => [name, Number(last)]));
}
