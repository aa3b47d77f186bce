import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ActorHandle } from 'ray-client-ts/actor';
import { actorClass } from 'ray-client-ts/code';
import { connect } from 'ray-client-ts/connect';
import type { RayConnection } from 'ray-client-ts/connection';
import { type RayHead, rayPython, startRayHead } from '../../packages/ray-client-ts/test/support/ray-head.ts';
import { machine, markdownTable, optionsOf, quantile, show, today, writePage } from './harness.ts';

/*
 * This client against Python's own, on one head and in one run, the arms in turn: what is said is a ratio. Times are
 * printed as information about the machine, never to be compared with those of another.
 */

/** Measures one thing once; yields seconds. */
type Arm = (measure: Measure, count: number) => Promise<number>;

const MEASURES = ['sequential', 'pipelined', 'batch', 'put', 'get'] as const;
type Measure = (typeof MEASURES)[number];

/** Between the measures, so that one does not begin while the cluster still frees the objects of the other. */
const SETTLE_MS = 200;

const WHAT: Record<Measure, string> = {
  sequential: 'call and get, one after the other',
  pipelined: 'call and get, all at once',
  batch: 'the same, values in one get',
  put: 'put',
  get: 'get',
};

/** `--rounds`, `--calls` (per round and arm), `--mib` (size of the object put and got), `--json`, `--write` (docs/guides/ray-client.md). */
export async function run(args: readonly string[]): Promise<void> {
  const { rounds, calls, mib, json, write } = optionsOf(args, {
    rounds: 7,
    calls: 300,
    mib: 64,
    json: false,
    write: false,
  });
  const counts: Record<Measure, number> = {
    sequential: calls,
    pipelined: calls,
    batch: calls,
    put: mib,
    get: mib,
  };
  await using head = await startRayHead({
    pythonPath: ['packages/ray-client-ts/test/with-ray/python'],
    numCpus: 4,
  });
  await using python = await startPythonArm(head);
  await using ray = await connect(head.address, { ...head.credentials, namespace: 'bench-node' });
  const actor = await ray.createActor(actorClass('probe:Counter'), { numCpus: 0 });
  await actor.ready();
  const ours: Arm = (measure, count) => measureOurs({ ray, actor }, measure, count);

  const samples = new Map(
    MEASURES.map((measure) => [measure, { ours: [] as number[], python: [] as number[] }]),
  );
  for (let round = 0; round <= rounds; round++) {
    for (const measure of MEASURES) {
      const count = counts[measure];
      // Each arm goes first in every other round.
      const first = round % 2 === 0 ? await ours(measure, count) : undefined;
      const theirs = await python.arm(measure, count);
      const own = first ?? (await ours(measure, count));
      // The first round warms up.
      if (round === 0) continue;
      samples.get(measure)?.ours.push(own);
      samples.get(measure)?.python.push(theirs);
    }
  }
  const report = { rayVersion: ray.rayVersion, counts, rows: summarise(samples) };
  show(report, json, () => console.log(describe(report)));
  if (write) writePage('guides/ray-client', (page) => withFigures(page, report, args));
}

async function measureOurs(
  { ray, actor }: { ray: RayConnection; actor: ActorHandle },
  measure: Measure,
  count: number,
): Promise<number> {
  const text = Buffer.from('x');
  const blob = measure === 'put' || measure === 'get' ? Buffer.alloc(count * 2 ** 20, 1) : text;
  const ref = measure === 'get' ? await ray.put(blob) : undefined;
  const begin = performance.now();
  if (measure === 'sequential') for (let call = 0; call < count; call++) await actor.call('echo', [text]);
  if (measure === 'batch') {
    const refs = await Promise.all(Array.from({ length: count }, () => actor.submit('echo', [text])));
    await ray.get(refs);
    for (const held of refs) void ray.release(held);
  }
  if (measure === 'pipelined')
    await Promise.all(Array.from({ length: count }, () => actor.call('echo', [text])));
  const made = measure === 'put' ? await ray.put(blob) : ref;
  if (ref !== undefined) await ray.get(ref);
  const seconds = (performance.now() - begin) / 1000;
  if (made !== undefined) await ray.release(made);
  // The other client must not pay for the releases of this one. The server works in order; Ray frees objects later.
  await ray.release(await ray.put(text));
  await sleep(SETTLE_MS);
  return seconds;
}

interface PythonArm extends AsyncDisposable {
  readonly arm: Arm;
}

async function startPythonArm(head: RayHead): Promise<PythonArm> {
  const child: ChildProcess = spawn(rayPython(), ['test/bench/ray_client.py', head.address], {
    env: { ...process.env, ...head.environment },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  if (child.stdout === null || child.stdin === null) throw new Error('no pipes');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => {
    const line = await lines.next();
    if (line.done) throw new Error('the Python arm ended');
    return line.value;
  };
  while ((await next()) !== 'ready');
  const { stdin } = child;
  return {
    arm: async (measure, count) => {
      stdin.write(`${measure} ${count}\n`);
      return Number(await next());
    },
    [Symbol.asyncDispose]: async () => {
      stdin.end();
      await ended;
    },
  };
}

type Samples = ReadonlyMap<Measure, { readonly ours: number[]; readonly python: number[] }>;

interface Row {
  readonly measure: Measure;
  /** Seconds, median of the rounds. */
  readonly ours: number;
  readonly python: number;
  readonly ratio: number;
  readonly ratios: readonly number[];
}

interface Report {
  readonly rayVersion: string;
  readonly counts: Record<Measure, number>;
  readonly rows: readonly Row[];
}

function summarise(samples: Samples): Row[] {
  return [...samples].map(([measure, { ours, python }]) => {
    const ratios = ours.map((seconds, index) => (python[index] ?? Number.NaN) / seconds);
    const median = (values: readonly number[]) => quantile(values, 0.5);
    return { measure, ours: median(ours), python: median(python), ratio: median(ratios), ratios };
  });
}

/** A row as words: what, ratio, its spread, both rates. */
function cells({ counts }: Report, { measure, ours, python, ratio, ratios }: Row): string[] {
  const unit = measure === 'put' || measure === 'get' ? 'MiB/s' : 'calls/s';
  const rate = (seconds: number): string => (counts[measure] / seconds).toFixed(0);
  const spread = `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}`;
  return [WHAT[measure], ratio.toFixed(2), spread, `${rate(ours)} ${unit}`, `${rate(python)} ${unit}`];
}

function describe(report: Report): string {
  const lines = report.rows.map((row) => {
    const [what = '', ratio, spread, ours, python] = cells(report, row);
    return `${what.padEnd(36)} ratio ${ratio} (${spread})   ${ours} against ${python}`;
  });
  const head = `Ray ${report.rayVersion}; ratio = time of Python's client / time of this one, median (least to most) of rounds`;
  return [head, ...lines].join('\n');
}

/** The page with the figures between its marks made anew. */
function withFigures(page: string, report: Report, args: readonly string[]): string {
  const rounds = report.rows[0]?.ratios.length ?? 0;
  const figures = [
    `Ray ${report.rayVersion}, ${rounds} rounds of ${report.counts.sequential} calls and of one object of ${report.counts.put} MiB, both clients`,
    `in turn on one head; ${today()}, ${machine()}.`,
    `\`npm run bench -- ${['ray', ...args].join(' ')}\``,
    '',
    markdownTable(
      ['What', 'Ratio', 'Least to most', 'This client', 'Python'],
      report.rows.map((row) => cells(report, row)),
    ),
  ];
  return page.replace(
    /(?<=<!-- figures -->\n)[\s\S]*(?=<!-- end of figures -->)/,
    () => `\n${figures.join('\n')}\n\n`,
  );
}
