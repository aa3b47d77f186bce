import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import { createMetrics } from '../../../src/observe/metrics.ts';
import { readCompose } from '../../support/deploy.ts';

interface Rule {
  alert?: string;
  record?: string;
  expr: string;
  labels?: { severity: string };
  annotations?: { summary: string; runbook: string };
}

const rules = (
  parse(readFileSync('deploy/prometheus/rules.yml', 'utf8')) as { groups: { rules: Rule[] }[] }
).groups.flatMap((group) => group.rules);
const board = JSON.parse(readFileSync('deploy/grafana/dashboards/echelon.json', 'utf8')) as {
  panels: { title: string; type: string; targets?: { expr: string }[] }[];
};

/** Names that the program and the records give. */
async function knownNames(): Promise<Set<string>> {
  const metrics = createMetrics({
    role: 'api',
    version: '0',
    readStore: () => Promise.reject(new Error('none')),
  });
  const names = [...(await metrics.text()).matchAll(/^# TYPE (\S+) (\S+)/gm)].flatMap(([, name, type]) =>
    type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name!],
  );
  return new Set([...names, ...rules.flatMap((rule) => (rule.record ? [rule.record] : []))]);
}

const namesIn = (expr: string): string[] => expr.match(/echelon[:_][a-z0-9_:]+/g) ?? [];

test('rules and board ask only for what is measured', async () => {
  const known = await knownNames();
  const panels = board.panels.flatMap((panel) => (panel.targets ?? []).map((target) => target.expr));
  for (const expr of [...rules.map((rule) => rule.expr), ...panels]) {
    assert.ok(namesIn(expr).length > 0, expr);
    for (const name of namesIn(expr)) assert.ok(known.has(name), `${name} in ${expr}`);
  }
});

test('every alert has a severity and a runbook that says what it means, what to check and what to do', () => {
  const runbooks = readFileSync('docs/guides/runbooks.md', 'utf8');
  const alerts = rules.filter((rule) => rule.alert);
  assert.ok(alerts.length >= 10);
  for (const { alert, labels, annotations } of alerts) {
    assert.match(labels?.severity ?? '', /^(warning|critical)$/);
    assert.equal(annotations?.runbook, `docs/guides/runbooks.md#${alert!.toLowerCase()}`);
    const start = runbooks.indexOf(`## ${alert}\n`);
    assert.ok(start >= 0, `no runbook for ${alert}`);
    const text = runbooks.slice(start + 4).split('\n## ')[0]!;
    for (const part of ['**Means:**', '**Check:**', '**Do:**'])
      assert.ok(text.includes(part), `${alert}: ${part}`);
  }
});

test('the board shows queue, clusters, projects, training, rules and verification', () => {
  const rows = board.panels.filter((panel) => panel.type === 'row').map((panel) => panel.title);
  assert.deepEqual(rows, [
    'Queue',
    'Clusters and GPUs',
    'Projects',
    'Training',
    'Rules',
    'Verification',
    'API',
  ]);
});

test('Prometheus scrapes every replica of the services with a metrics port, on the network of metrics alone', () => {
  const config = parse(readFileSync('deploy/prometheus/prometheus.yml', 'utf8')) as {
    scrape_configs: { dns_sd_configs: { names: string[]; type: string; port: number }[] }[];
  };
  const [{ names, type, port }] = config.scrape_configs[0]!.dns_sd_configs as [
    { names: string[]; type: string; port: number },
  ];
  const { services } = readCompose();
  const serving = Object.entries(services).filter(([, one]) => one.environment?.ECHELON_METRICS_PORT);
  assert.deepEqual([names, type], [serving.map(([name]) => `${name}-watch`), 'A']);
  for (const [name, { environment, networks }] of serving) {
    assert.equal(environment?.ECHELON_METRICS_PORT, String(port));
    assert.equal(environment?.ECHELON_METRICS_HOST, `127.0.0.1,${name}-watch`);
    const aliases = Object.entries(networks as Record<string, { aliases?: string[] }>).flatMap(
      ([network, one]) => (one.aliases ?? []).map((alias) => `${network} ${alias}`),
    );
    assert.deepEqual(aliases, [`watch ${name}-watch`]);
  }
});
