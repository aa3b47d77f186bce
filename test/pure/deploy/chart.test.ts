import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { Ajv } from 'ajv';
import { parse } from 'yaml';
import { SETTINGS } from '../../../src/config/settings.ts';
import { acceptCommand, readTemplates } from '../../support/deploy.ts';

const templates = readTemplates();
const read = (file: string) => readFileSync(file, 'utf8');
const schema = JSON.parse(read('helm/echelon/values.schema.json')) as object;
const validate = new Ajv({ strict: false, allErrors: true }).compile(schema);

/** Helm merges maps and replaces everything else. */
function merge(base: unknown, over: unknown): unknown {
  const isMap = (value: unknown): value is Record<string, unknown> =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isMap(base) || !isMap(over)) return over === undefined ? base : over;
  const keys = new Set([...Object.keys(base), ...Object.keys(over)]);
  return Object.fromEntries([...keys].map((key) => [key, merge(base[key], over[key])]));
}

describe('the chart', () => {
  const defaults = parse(read('helm/echelon/values.yaml')) as Record<string, unknown>;

  test('the values of the chart and every example are valid by its schema', () => {
    assert.ok(validate(defaults), JSON.stringify(validate.errors));
    const examples = globSync('helm/echelon/examples/*.yaml');
    assert.ok(examples.length >= 3);
    for (const file of examples)
      assert.ok(validate(merge(defaults, parse(read(file)))), `${file} ${JSON.stringify(validate.errors)}`);
  });

  test('the schema of the chart refuses unknown values and values that would leave their place', () => {
    for (const change of [
      { replicas: 2 },
      { api: { publicUrl: 'https://x"\n  evil: y' } },
      { image: { repository: 'x\n hostNetwork: true' } },
      { redis: { url: 'redis://user:password@r:6379' } },
      { clusters: [{ name: 'a,--help', address: 'x:1', tokenSecret: { name: 'a', key: 'b' } }] },
      { dispatcher: { leaseMs: 10 } },
      { archive: { bucketUrl: 's3://key:secret@bucket' } },
      { ray: { env: { RAY_ADDRESS: 'x' } } },
      { ray: { env: { 'A, value: x }': 'x' } } },
    ])
      assert.equal(validate(merge(defaults, change)), false, JSON.stringify(change));
  });

  test('every template opens and closes what it says', () => {
    assert.ok(templates.size >= 10);
    for (const [file, text] of templates) {
      assert.equal(text.match(/\{\{/g)?.length, text.match(/\}\}/g)?.length, file);
      let depth = 0;
      for (const [, word] of text.matchAll(/\{\{-?\s*(if|range|with|define|end)\b/g)) {
        depth += word === 'end' ? -1 : 1;
        assert.ok(depth >= 0, file);
      }
      assert.equal(depth, 0, file);
    }
  });

  test('every value that a template reads is there, and every value is read', () => {
    const text = [...templates.values()].join('\n');
    const used = new Set(
      [...text.matchAll(/\.Values\.([A-Za-z]+)(?:\.([A-Za-z]+))?/g)].map((match) => match[0]),
    );
    for (const path of used) {
      const [, , first, second] = path.split('.');
      const top = defaults[first!];
      assert.notEqual(top, undefined, path);
      if (second && !Array.isArray(top)) assert.ok(second in (top as object), path);
    }
    for (const [first, value] of Object.entries(defaults))
      if (typeof value === 'object' && value !== null && !Array.isArray(value))
        for (const second of Object.keys(value))
          assert.ok(
            [...used].some((path) => path === `.Values.${first}.${second}`),
            `${first}.${second} has no effect`,
          );
  });

  test('every variable is a setting, every flag is one of the program', () => {
    const known: string[] = Object.values<{ variable: string; secret?: true }>(SETTINGS).flatMap((one) =>
      one.secret ? [one.variable, `${one.variable}_FILE`] : [one.variable],
    );
    const own = ['_helpers.tpl', 'api.yaml', 'dispatcher.yaml'].map(
      (name) => templates.get(`helm/echelon/templates/${name}`)!,
    );
    const variables = own.flatMap((text) =>
      [...text.matchAll(/name: ((?:ECHELON|REDIS)_[A-Z_]+)/g)].map((match) => match[1]!),
    );
    assert.ok(variables.length > 10);
    for (const variable of variables) assert.ok(known.includes(variable), variable);
    acceptCommand(['api']);
    acceptCommand([
      'dispatcher',
      '--cluster=a=b:1',
      '--cluster-token-file=/x',
      '--cluster=c=d:2',
      '--cluster-token-file=/y',
    ]);
    for (const [flag] of own[2]!.matchAll(/--[a-z-]+(?==)/g)) acceptCommand(['dispatcher', `${flag}=a=b:1`]);
  });

  test('the rules and the board are those of deploy/', () => {
    assert.equal(read('helm/echelon/files/rules.yml'), read('deploy/prometheus/rules.yml'));
    assert.equal(read('helm/echelon/files/echelon.json'), read('deploy/grafana/dashboards/echelon.json'));
  });

  test('each half-configured install is refused with a sentence that the check looks for', () => {
    const sentences = [
      ...templates.get('helm/echelon/templates/validate.yaml')!.matchAll(/fail \(?(?:printf )?"([^"]+)"/g),
    ];
    assert.ok(sentences.length >= 12);
    const check = read('scripts/check-chart.py');
    const words = [
      ...check.matchAll(/\}\)?, "([^"]+)"\),$/gm),
      ...check.matchAll(/^ {5}"([^"]+)"\),$/gm),
    ].map((match) => match[1]!);
    for (const [, sentence] of sentences)
      assert.ok(
        words.some((word) => sentence!.includes(word)),
        sentence,
      );
  });

  test('no text of the chart runs a package of a registry, whose name another person could own', () => {
    for (const [file, text] of templates) assert.doesNotMatch(text, /\bnpx\b|\bnpm (exec|x)\b/, file);
  });

  test('the version of the chart is the one of the package', () => {
    const { version } = JSON.parse(read('package.json')) as { version: string };
    const chart = parse(read('helm/echelon/Chart.yaml')) as { version: string; appVersion: string };
    assert.deepEqual([chart.version, chart.appVersion], [version, version]);
  });
});
