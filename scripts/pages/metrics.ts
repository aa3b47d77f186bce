import { createMetrics } from '../../src/observe/metrics.ts';

/** The page of the metrics of all processes. */
export async function metricsPage(): Promise<string> {
  const text = await createMetrics({
    role: 'api',
    version: '',
    readStore: () => Promise.reject(new Error('no store')),
  }).text();
  const types = new Map(
    [...text.matchAll(/^# TYPE (echelon_\S+) (\w+)$/gm)].map(([, name, type]) => [name!, type!]),
  );
  const rows = [...text.matchAll(/^# HELP (echelon_\S+) (.*)$/gm)].map(
    ([, name, help]) => `| \`${name}\` | ${types.get(name!)} | ${help!.replace(/\.$/, '')} |`,
  );
  return `# Metrics

The api and the dispatchers serve these metrics for Prometheus at \`ECHELON_METRICS_PORT\`, besides the default ones of Node.js. A *gauge* of
the store has the same value at every process: take the maximum. Add up a *counter* or a *histogram* over the processes.
The [runbooks](../guides/runbooks.md) explain the alerts that use them.

| metric | type | meaning |
| --- | --- | --- |
${rows.sort().join('\n')}
`;
}
