import { advanceSweeps } from '../../src/dispatch/background/sweeps.ts';
import type { SweepRequest } from '../../src/schemas/sweep.ts';
import { startDurableApi, TOKEN } from './durable-api.ts';
import { afterWarmUp, optionsOf, say, timed } from './harness.ts';

/*
 * One sweep against as many single submissions, over HTTP, on one server and one Redis that writes every answer to
 * disk first, the arms in turn: what is said is a ratio. Times are information about the machine, never to be compared
 * with those of another.
 */

/** `--children N` of a sweep (1000), `--rounds N` (5), `--connections N` of the second arm (50). */
export async function run(args: readonly string[]): Promise<void> {
  const { children, rounds, connections } = optionsOf(args, {
    children: 1000,
    rounds: 5,
    connections: 50,
  });
  const service = await startService();
  try {
    console.log(service.setup);
    const found = await afterWarmUp(rounds, async () => {
      const post = await timed(() => service.post('/v1/sweeps', sweepOf(children)));
      const expansion = await timed(service.expand);
      const one = await timed(() => service.submitAll(children, 1));
      const many = await timed(() => service.submitAll(children, connections));
      return { post, whole: post + expansion, one, many };
    });
    type Round = (typeof found)[number];
    const figure = (what: string, unit: string, of: (round: Round) => number) => ({
      what,
      unit,
      values: found.map(of),
    });
    const [single, sweep] = [`${children} submissions one after another`, `one sweep of ${children}`];
    say(figure(`POST of ${sweep}`, 'ms', ({ post }) => post));
    say(figure(`${sweep} until every child is in the queue`, 'ms', ({ whole }) => whole));
    say({ ...figure(`${single}, to ${sweep}`, '×', ({ one, post }) => one / post), least: 20 });
    say(figure('the same, until every child is in the queue', '×', ({ one, whole }) => one / whole));
    const some = `${children} submissions ${connections} at a time`;
    say(figure(`${some}, to ${sweep}`, '×', ({ many, post }) => many / post));
  } finally {
    await service.stop();
  }
}

function sweepOf(children: number): SweepRequest {
  const seeds = Array.from({ length: Math.ceil(children / 2) }, (_seed, at) => at);
  return {
    name: 'bench',
    method: 'grid',
    spec: { engine: 'local' },
    axes: { estimator: [{ name: 'hgpo' }, { name: 'grpo' }], 'training.seed': seeds },
  };
}

async function startService() {
  const { store, queue, log, ...api } = await startDurableApi();
  const url = await api.listen();

  async function post(path: string, body: unknown): Promise<void> {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const answer = await response.text();
    if (response.status !== 202) throw new Error(`${response.status}: ${answer}`);
  }

  return {
    ...api,
    post,
    expand: () => advanceSweeps({ store, queue, log }),
    async submitAll(count: number, connections: number): Promise<void> {
      let next = 0;
      const client = async () => {
        while (next < count) {
          const seed = next++;
          const estimator = { name: seed % 2 ? 'hgpo' : 'grpo' };
          await post('/v1/experiments', { engine: 'local', name: 'bench', estimator, training: { seed } });
        }
      };
      await Promise.all(Array.from({ length: connections }, client));
    },
  };
}
