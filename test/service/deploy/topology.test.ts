import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { interpolate, networksOf, readCompose } from '../../support/deploy.ts';
import { until } from '../../support/dispatch.ts';
import { buildTopology, type Topology, whyNoNamespaces } from '../../support/namespaces.ts';

const skip = whyNoNamespaces() ?? false;
const { services, networks } = readCompose();
const PLAYED = ['redis', 'api', 'dispatcher', 'ray', 'prometheus'];
const CLI = resolve('src/cli/main.ts');
const TOKEN = 'token-of-the-rehearsal-0123456789';

/** Ports of each host to which the test connects. */
const DOORS: Record<string, number[]> = { redis: [6379], api: [7077, 9464], dispatcher: [9464], ray: [7400] };

/** The ports that each service may reach, written by hand: the purpose of the networks of the compose file. */
const MAY_REACH: Record<string, string[]> = {
  redis: ['api:7077'],
  api: ['redis:6379', 'dispatcher:9464'],
  dispatcher: ['redis:6379', 'api:7077', 'api:9464', 'ray:7400'],
  ray: [],
  prometheus: ['api:7077', 'api:9464', 'dispatcher:9464'],
};

describe('the services of the compose file as processes in network namespaces', { skip }, () => {
  let topology: Topology;
  let directory: string;
  const secret = (name: string) => join(directory, 'secrets', name);

  /** The environment of a service, with container paths replaced by local paths and names by addresses. */
  function environmentOf(name: string): NodeJS.ProcessEnv {
    const own = Object.entries(services[name]!.environment ?? {}).map(([variable, value]) => [
      variable,
      interpolate(String(value))
        .replace('/run/secrets', join(directory, 'secrets'))
        .replace('//redis:', `//${topology.address(name, 'redis')}:`)
        .replace(`${name}-watch`, `${topology.address('prometheus', name)}`),
    ]);
    const state = {
      ECHELON_STATE_DIR: join(directory, name),
      ECHELON_ARCHIVE_DIR: join(directory, 'archive'),
    };
    return { PATH: process.env.PATH, HOME: directory, ...Object.fromEntries(own), ...state };
  }

  /** Starts one of our services with its own command line. */
  function play(name: 'api' | 'dispatcher') {
    const args = services[name]!.command!.map((word) =>
      interpolate(word)
        .replace('/run/secrets', join(directory, 'secrets'))
        .replace('=ray:', `=${topology.address(name, 'ray')}:`),
    );
    topology.start(name, [process.execPath, CLI, ...args], { env: environmentOf(name) });
  }

  const healthy = (name: string) => {
    const [, , , url] = services[name]!.healthcheck!.test;
    return topology.run(name, [process.execPath, 'deploy/docker/health.mjs', url!]).status === 0;
  };

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'ec-'));
    await mkdir(join(directory, 'secrets'));
    await mkdir(join(directory, 'redis'));
    const secrets = ['redis-password', 'api-token', 'cookie-secret', 'ray-token', 'ray-worker-token'];
    for (const name of secrets)
      await writeFile(secret(name), name === 'api-token' ? TOKEN : `${name}-`.repeat(4));
    const members = Object.fromEntries(
      Object.keys(networks).map((network) => [
        network,
        PLAYED.filter((name) => networksOf(services[name]!).includes(network)),
      ]),
    );
    topology = buildTopology(members);

    const config = (await readFile('deploy/docker/redis.conf', 'utf8'))
      .replace('dir /data', `dir ${join(directory, 'redis')}`)
      .replace(/^include .*$/m, `requirepass ${await readFile(secret('redis-password'), 'utf8')}`);
    await writeFile(join(directory, 'redis.conf'), config);
    topology.start('redis', ['redis-server', join(directory, 'redis.conf')]);
    // The ray-worker as the head starts it, but without Ray: replays do not need it.
    const worker = ['--state-dir', join(directory, 'shared'), '--listen', '0.0.0.0:7400'];
    topology.start(
      'ray',
      [
        resolve('.venv/bin/python'),
        '-m',
        'echelon_rayworker.server',
        ...worker,
        '--token-file',
        secret('ray-worker-token'),
      ],
      {
        cwd: resolve('deploy/ray-worker'),
        env: { ...process.env, PYTHONPATH: resolve('deploy/capture') },
      },
    );
    await until(
      () =>
        topology
          .run('redis', ['redis-cli', '-a', `${'redis-password-'.repeat(4)}`, 'ping'])
          .output.includes('PONG'),
      'Redis answers',
    );
    play('api');
    play('dispatcher');
    await until(() => healthy('api') && healthy('dispatcher'), 'their health checks pass');
  });
  after(async () => {
    await topology?.close();
    await rm(directory, { recursive: true, force: true });
  });

  test('each service of the compose file reaches exactly the ports that it needs', () => {
    const knock = `import concurrent.futures, socket, sys
def opens(door):
    host, port = door.split(":")
    try:
        socket.create_connection((host, int(port)), 5).close()
        return True
    except OSError:
        return False
with concurrent.futures.ThreadPoolExecutor(32) as pool:
    for door, is_open in zip(sys.argv[1:], pool.map(opens, sys.argv[1:])):
        if is_open: print(door)`;
    for (const from of PLAYED) {
      const doors = Object.entries(DOORS).flatMap(([to, ports]) =>
        to === from
          ? []
          : ports.flatMap((port) =>
              // Every address of the other service, also on networks that the two do not share.
              PLAYED.flatMap((third) => {
                const address = topology.address(third, to);
                return address ? [{ door: `${to}:${port}`, at: `${address}:${port}` }] : [];
              }),
            ),
      );
      const { output } = topology.run(from, ['python3', '-c', knock, ...new Set(doors.map(({ at }) => at))]);
      const open = new Set(output.split('\n').filter(Boolean));
      const reached = [...new Set(doors.filter(({ at }) => open.has(at)).map(({ door }) => door))].sort();
      assert.deepEqual(reached, [...MAY_REACH[from]!].sort(), `from ${from}`);
    }
  });

  test('an experiment succeeds in the compose topology, and Prometheus scrapes its metrics', async () => {
    const api = `http://127.0.0.1:7077`;
    const spec = join(directory, 'spec.json');
    await writeFile(spec, JSON.stringify({ engine: 'replay', name: 'rehearsal', replay: { batches: 2 } }));
    const env = { PATH: process.env.PATH, HOME: directory, ECHELON_URL: api, ECHELON_TOKEN: TOKEN };
    const done = topology.run('api', [process.execPath, CLI, 'submit', spec, '--watch'], env);
    assert.equal(done.status, 0, done.output);
    assert.match(done.output, /succeeded/);
    const scraped = topology.run('prometheus', [
      process.execPath,
      '-e',
      `fetch('http://${topology.address('prometheus', 'dispatcher')}:9464/metrics').then((r) => r.text()).then(console.log)`,
    ]).output;
    assert.match(scraped, /^echelon_experiments\{state="succeeded",role="dispatcher"\} 1$/m);
    assert.match(scraped, /^echelon_verification_rows_total\{outcome="exact",role="dispatcher"\} [1-9]/m);
    assert.match(scraped, /^echelon_attempts_claimed_total\{role="dispatcher"\} 1$/m);
  });
});
