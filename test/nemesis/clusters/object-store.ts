import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../../src/cli/local/processes.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';
import { PYTHON } from './ray.ts';

const ANSWERS_MS = 60_000;

/** An S3 server with a bucket, and a proxy before it, which trainings use and which can fail. */
export interface ObjectStore {
  /** What a spec needs in order to keep its checkpoints there. */
  readonly spec: { checkpointStore: { url: string; retain: number }; env: Record<string, string> };
  /** Cuts each connection for so long. */
  isAway(ms: number): Promise<void>;
  /** Connections receive nothing more and are not told so; new ones work. */
  goesSilent(): void;
  /** What is wrong with the checkpoints of an experiment whose last one is of this step. */
  problems(experiment: string, step: number): Promise<string[]>;
  stop(): Promise<void>;
}

interface Manifest {
  files: { name: string; sha256: string }[];
}

/** Starts moto, of test/requirements.txt. */
export async function startObjectStore(): Promise<ObjectStore> {
  const port = await freePort();
  const server = spawn(PYTHON, ['-m', 'moto.server', '-H', '127.0.0.1', '-p', `${port}`], {
    stdio: 'ignore',
  });
  const bucket = `http://127.0.0.1:${port}/runs`;
  const made = () =>
    fetch(bucket, { method: 'PUT' }).then(
      ({ ok }) => ok,
      () => false,
    );
  for (const until = Date.now() + ANSWERS_MS; !(await made()); await delay(200))
    if (Date.now() > until) throw new Error('no S3 server: pip install -r test/requirements.txt');
  const proxy = await startTcpProxy(`127.0.0.1:${port}`);
  const read = async (key: string) => Buffer.from(await (await fetch(`${bucket}/${key}`)).arrayBuffer());

  async function manifests(experiment: string): Promise<string[]> {
    const list = await (await fetch(`${bucket}?list-type=2&prefix=x/${experiment}/`)).text();
    return [...list.matchAll(/<Key>([^<]+\/manifest\.json)</g)].map(([, key]) => key!);
  }

  return {
    spec: {
      checkpointStore: {
        url: `s3://runs/x?scheme=http&endpoint_override=${proxy.address}&region=us-east-1`,
        retain: 3,
      },
      env: { AWS_ACCESS_KEY_ID: 'a-key', AWS_SECRET_ACCESS_KEY: 'a-secret', NO_PROXY: '127.0.0.1' },
    },
    async isAway(ms) {
      proxy.cut();
      await delay(ms);
      proxy.heal();
    },
    goesSilent: () => proxy.freeze(),
    async problems(experiment, step) {
      const found: string[] = [];
      const keys = await manifests(experiment);
      const newest = Math.max(0, ...keys.map((key) => Number(key.split('/').at(-2))));
      if (newest !== step)
        found.push(`${experiment}: the store's newest checkpoint is of step ${newest}, not ${step}`);
      for (const key of keys) {
        const { files } = JSON.parse(String(await read(key))) as Manifest;
        for (const { name, sha256 } of files) {
          const data = await read(key.replace(/manifest\.json$/, name));
          if (createHash('sha256').update(data).digest('hex') !== sha256)
            found.push(`${experiment}: ${name} beside ${key} has another digest`);
        }
      }
      return found;
    },
    async stop() {
      await proxy.stop();
      server.kill('SIGKILL');
    },
  };
}
