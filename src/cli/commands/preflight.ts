import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import {
  type Command as ClusterCommand,
  isCommandOver,
  type PreflightFinding,
} from '../../schemas/clusters.ts';
import { type ConnectionOptions, clientFor, withConnection } from '../connection.ts';
import { CliError, EXIT } from '../exit.ts';
import { inert, json, type Output, plural, table } from '../output.ts';
import { patient } from '../patient.ts';
import { readSpecFile } from '../spec-file.ts';

type Options = ConnectionOptions & { json?: boolean; cluster?: string; all?: boolean };

const POLL_MS = 200;
/** So many looks make about two seconds. */
const SAID_AFTER = 8;

/** `echelon preflight`: what of a spec would fail, hang or be ignored on a cluster; exit status 1 where it cannot work. */
export function preflightCommand(output: Output): Command {
  return withConnection(new Command('preflight'))
    .summary('say what of a spec would fail on a cluster, before it is run')
    .description('say what of a spec would fail, hang or be ignored on a cluster, before a GPU is taken')
    .argument(
      '[file]',
      'the spec, YAML or JSON; - reads standard input; without it only the cluster is looked at',
    )
    .option('--cluster <name>', 'look there, whatever the spec says')
    .option('--all', 'also show what is well')
    .option('--json', 'print JSON, for scripts')
    .addHelpText(
      'after',
      '\nExamples:\n  echelon preflight deploy/examples/verl-agent-hgpo.yaml --cluster fleet\n  echelon preflight --cluster fleet --all',
    )
    .action(async (file: string | undefined, options: Options) => {
      const client = await clientFor(options);
      const { path, body } = await asked(file, options.cluster);
      let seen = await client.post<ClusterCommand>(path, body);
      const where = file === undefined ? `/v1/commands/${seen.id}` : `/v1/preflight/${seen.id}`;
      const look = patient(() => client.get<ClusterCommand>(where), { output });
      for (let looks = 1; !isCommandOver(seen); looks++) {
        if (looks === SAID_AFTER && !options.json)
          output.remark(`Looking at ${inert(seen.cluster)}; this may take a few minutes.`);
        await delay(POLL_MS);
        seen = await look();
      }
      if (options.json) output.line(json(seen));
      else for (const line of describe(seen, options.all ?? file === undefined)) output.line(line);
      refuse(seen);
    });
}

async function asked(file: string | undefined, cluster: string | undefined) {
  if (file === undefined) {
    if (cluster === undefined) throw new CliError(EXIT.usage, 'Name a spec, or a cluster with --cluster.');
    return { path: `/v1/clusters/${encodeURIComponent(cluster)}/preflight`, body: undefined };
  }
  const spec = await readSpecFile(file);
  const placed = cluster === undefined ? spec : { ...(spec as object), cluster };
  return { path: '/v1/preflight', body: placed };
}

/** Errors and warnings with their remedies; what is well only where `all`. */
function describe({ cluster, findings }: ClusterCommand, all: boolean): string[] {
  const shown = findings.filter(({ severity }) => all || severity !== 'ok');
  const rows = shown.map(({ severity, check, message, remedy }) => [
    severity,
    inert(check),
    inert(remedy === '' ? message : `${message}\n→ ${remedy}`),
  ]);
  const count = (wanted: PreflightFinding['severity']) =>
    findings.filter(({ severity }) => severity === wanted).length;
  const total = `${plural(findings.length, 'check')} on ${inert(cluster)}: ${plural(count('error'), 'error')}, ${plural(count('warning'), 'warning')}.`;
  return rows.length === 0 ? [total] : [table(['', 'CHECK', 'WHAT'], rows), '', total];
}

function refuse({ state, findings, problems }: ClusterCommand): void {
  const failure = problems.find(({ severity }) => severity === 'error');
  if (state === 'failed')
    throw new CliError(EXIT.notOk, inert(`${failure?.message ?? 'it failed'}\n  ${failure?.remedy ?? ''}`));
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  if (errors > 0) throw new CliError(EXIT.notOk, `${plural(errors, 'thing')} cannot work.`);
}
