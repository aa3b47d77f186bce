import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Bench, startBench } from '../support/dispatch.ts';
import { type PartProcess, spawnPart, startDispatcherProcess } from '../support/dispatcher-processes.ts';
import { freePort } from '../support/redis.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';

const DISPATCHERS = 3;
/** Drivers that run at a time. */
export const CPUS = 24;
const TOKEN = 'token-of-the-campaign-0123456789';

/** Dispatchers, one of which may be ended or frozen at a time. */
interface Dispatchers {
  /** Ends one of them by a signal and starts another one. `newest`: the one that was started last. */
  replace(random: () => number, signal: NodeJS.Signals, which?: { newest: boolean }): Promise<void>;
  freeze(random: () => number, ms: number): Promise<void>;
}

/** The api. */
interface Api {
  readonly url: string;
  readonly token: string;
  /** Kills it and starts another one at the same address. */
  replace(): Promise<void>;
  freeze(ms: number): Promise<void>;
}

/** Redis, dispatchers and an api, each a process, and a fake ray-worker. */
export interface World {
  readonly bench: Bench;
  readonly leaseMs: number;
  readonly dispatchers: Dispatchers;
  readonly api: Api;
  /** All connections of dispatchers and the api to Redis. */
  readonly redisProxy: TcpProxy;
  /** All connections of users to the api. */
  readonly apiProxy: TcpProxy;
  /** Processes that ended by themselves. */
  readonly selfEnded: readonly string[];
  stop(): Promise<void>;
}

/** Starts a {@link World}. The caller must `stop()` it. */
export async function startWorld({ leaseMs }: { leaseMs: number }): Promise<World> {
  const resources = new AsyncDisposableStack();
  const selfEnded: string[] = [];
  const releases = { after: (release: () => Promise<void>) => resources.defer(release) };
  const expected = new Set<PartProcess>();
  let stopping = false;

  const bench = await startBench({ cpus: CPUS });
  resources.defer(() => bench.stop());
  const redisProxy = await startTcpProxy(`127.0.0.1:${bench.server.port}`);
  resources.defer(() => redisProxy.stop());
  const proxied = { ...bench, server: { ...bench.server, url: `redis://${redisProxy.address}` } };

  function watched<P extends PartProcess>(name: string, process: P): P {
    void process.exited.then(() => {
      if (!stopping && !expected.has(process)) selfEnded.push(name);
    });
    return process;
  }
  async function end(process: PartProcess, signal: NodeJS.Signals): Promise<void> {
    expected.add(process);
    process.kill(signal);
    await process.exited;
  }
  async function freeze(process: PartProcess, ms: number): Promise<void> {
    process.kill('SIGSTOP');
    await delay(ms);
    process.kill('SIGCONT');
  }

  let started = 0;
  const startDispatcher = async () => {
    const id = `d${++started}`;
    return watched(id, await startDispatcherProcess(proxied, releases, { id, leaseMs }));
  };
  const dispatchers = await Promise.all(Array.from({ length: DISPATCHERS }, startDispatcher));
  const indexBy = (random: () => number) => Math.floor(random() * dispatchers.length);

  const port = await freePort();
  const apiSetup = { url: proxied.server.url, archive: join(bench.directory, 'archive'), port, token: TOKEN };
  const startApi = async () => {
    const process = spawnPart(releases, { script: 'api-process.ts', name: 'api', setup: apiSetup });
    await process.says('ready');
    return watched('api', process);
  };
  let api = await startApi();
  const apiProxy = await startTcpProxy(`127.0.0.1:${port}`);
  resources.defer(() => apiProxy.stop());

  return {
    ...{ bench, leaseMs, redisProxy, apiProxy, selfEnded },
    dispatchers: {
      async replace(random, signal, { newest } = { newest: false }) {
        const index = newest ? dispatchers.length - 1 : indexBy(random);
        const [victim] = dispatchers.splice(index, 1);
        await end(victim!, signal);
        dispatchers.push(await startDispatcher());
      },
      freeze: async (random, ms) => freeze(dispatchers[indexBy(random)]!, ms),
    },
    api: {
      url: `http://${apiProxy.address}`,
      token: TOKEN,
      async replace() {
        await end(api, 'SIGKILL');
        api = await startApi();
      },
      freeze: (ms) => freeze(api, ms),
    },
    async stop() {
      stopping = true;
      await resources.disposeAsync();
    },
  };
}
