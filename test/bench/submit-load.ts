// The load of the bench of submissions, in a process of its own: its settings (JSON) → its figures (JSON).
import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import autocannon from 'autocannon';
import { cpuClock, quantile } from './harness.ts';

/** One load. Without `rate` each connection sends its next request as soon as it has the answer to the one before. */
export interface LoadSettings {
  url: string;
  path: string;
  token: string;
  seconds: number;
  connections: number;
  /** Requests a second, evenly spread, whatever the answers take. */
  rate?: number;
}

/**
 * Number of answers, answers a second, the time that all but 1 % of them took at most (ms), how many were refused or failed,
 * and the CPU time of the load for each (µs).
 */
export interface LoadFigures {
  answers: number;
  rate: number;
  p99: number;
  refused: number;
  loadUs: number;
}

type Answers = Omit<LoadFigures, 'loadUs'>;

const body = JSON.stringify({ engine: 'local', name: 'bench', estimator: { name: 'hgpo' } });

/** A key of its own, as every careful client sends one. */
function headersOf(token: string) {
  return {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'idempotency-key': randomUUID(),
  };
}

async function flood({ url, path, token, seconds, connections }: LoadSettings): Promise<Answers> {
  const asked =
    path === '/healthz'
      ? { path, headers: { authorization: `Bearer ${token}` } }
      : {
          path,
          method: 'POST' as const,
          body,
          setupRequest: (plain: autocannon.Request) => ({ ...plain, headers: headersOf(token) }),
        };
  const { requests, latency, non2xx, errors } = await autocannon({
    url,
    duration: seconds,
    connections,
    requests: [asked],
  });
  return { answers: requests.total, rate: requests.average, p99: latency.p99, refused: non2xx + errors };
}

/** Each time is counted from when the request was due: one that had to wait for others has waited. */
async function pace(load: LoadSettings & { rate: number }): Promise<Answers> {
  const agent = new Agent({ keepAlive: true, maxSockets: load.connections });
  const times: number[] = [];
  let refused = 0;
  const start = performance.now();
  const sent: Promise<void>[] = [];
  for (let count = 0; count < load.rate * load.seconds; count += 1) {
    const due = start + (count * 1000) / load.rate;
    while (performance.now() < due) await pause(1);
    const answered = statusOf(load, agent).then((status) => {
      if (status !== 202) refused += 1;
      times.push(performance.now() - due);
    });
    sent.push(answered);
  }
  await Promise.all(sent);
  const tookSeconds = (performance.now() - start) / 1000;
  agent.destroy();
  return { answers: times.length, rate: times.length / tookSeconds, p99: quantile(times, 0.99), refused };
}

function statusOf({ url, path, token }: LoadSettings, agent: Agent): Promise<number | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
  const sending = request(
    new URL(path, url),
    { method: 'POST', agent, headers: headersOf(token) },
    (answer) => {
      answer.resume().once('end', () => resolve(answer.statusCode));
    },
  );
  sending.once('error', reject).end(body);
  return promise;
}

const settings = JSON.parse(process.argv[2]!) as LoadSettings;
const { rate } = settings;
const cpu = cpuClock();
const answered = await (rate === undefined ? flood(settings) : pace({ ...settings, rate }));
const figures: LoadFigures = { ...answered, loadUs: cpu() / answered.answers };
console.log(JSON.stringify(figures));
