import { setTimeout as delay } from 'node:timers/promises';
import { examples } from 'command-kit/examples';
import { CliError, EXIT } from 'command-kit/exit';
import { inert } from 'command-kit/inert';
import { json, type Output } from 'command-kit/output';
import { plural } from 'command-kit/plural';
import { table } from 'command-kit/table';
import type { Command } from 'commander';
import type { Command as ClusterCommand, ExperimentSpec } from 'echelon-client/calls';
import type { Client } from '../client.ts';
import { type ApiOptions, apiCommand, clientFor } from '../connection.ts';
import { readSpec } from '../folder-files.ts';
import { retrying } from '../retrying.ts';
import { hasEnded, throwIfFailed } from './clusters.ts';

const POLL_MS = 200;
/** After this number of polls, about two seconds, a message says what the user waits for. */
const POLLS_BEFORE_MESSAGE = 8;

/** `echelon preflight`: what in a spec would fail on a cluster. The exit status is 1 if a check finds an error. */
function preflightCommand(output: Output): Command {
  return apiCommand('preflight')
    .description(
      'Check a spec on a cluster before it takes a GPU: settings that would fail, hang or be ignored. Without a file, check only the cluster.',
    )
    .argument('[file]', 'file with the spec, YAML or JSON; - is standard input')
    .option('--cluster <name>', "check this cluster instead of the spec's")
    .option('--all', 'also show successful checks')
    .addHelpText(
      'after',
      examples(
        'echelon preflight deploy/examples/verl-agent-hgpo.yaml --cluster fleet',
        'echelon preflight --cluster fleet --all',
      ),
    )
    .action(async (file: string | undefined, options: ApiOptions & { cluster?: string; all?: boolean }) => {
      const client = await clientFor(options);
      const { begun, read } = await start(client, { file, cluster: options.cluster, output });
      const poll = retrying(read, { output });
      let seen = begun;
      for (let polls = 1; !hasEnded(seen); polls++) {
        if (polls === POLLS_BEFORE_MESSAGE && !options.json)
          output.remark(`Checking ${inert(seen.cluster)}; this may take a few minutes.`);
        await delay(POLL_MS);
        seen = await poll();
      }
      if (options.json) output.line(json(seen));
      else
        for (const line of describe(seen, options.all ?? file === undefined, output.columns))
          output.line(line);
      throwIfFailed(seen);
      const errors = seen.findings.filter(({ severity }) => severity === 'error').length;
      if (errors > 0)
        throw new CliError(
          EXIT.notOk,
          `${plural(errors, 'error')} on ${inert(seen.cluster)}; see the list above.`,
        );
    });
}

/** Starts the checks; `read` reads their state. */
async function start(
  client: Client,
  { file, cluster, output }: { file: string | undefined; cluster: string | undefined; output: Output },
) {
  if (file === undefined) {
    if (cluster === undefined)
      throw new CliError(EXIT.usage, 'Give the file of a spec, or a cluster with --cluster NAME.');
    const begun = await client.post('/v1/clusters/{name}/preflight', { path: { name: cluster } });
    return { begun, read: () => client.get('/v1/commands/{id}', { path: { id: begun.id } }) };
  }
  const spec = await readSpec(file, output);
  // The API validates it.
  const body = (cluster === undefined ? spec : { ...(spec as object), cluster }) as ExperimentSpec;
  const begun = await client.post('/v1/preflight', { body });
  return { begun, read: () => client.get('/v1/preflight/{id}', { path: { id: begun.id } }) };
}

type Severity = ClusterCommand['findings'][number]['severity'];

/** Errors and warnings with their remedies; successful checks only if `all`. */
function describe({ cluster, findings }: ClusterCommand, all: boolean, width: number | undefined): string[] {
  const shown = findings.filter(({ severity }) => all || severity !== 'ok');
  const rows = shown.map(({ severity, check, message, remedy }) => [
    severity,
    inert(check),
    remedy === '' ? inert(message) : `${inert(message)}\n→ ${inert(remedy)}`,
  ]);
  const count = (wanted: Severity) => findings.filter(({ severity }) => severity === wanted).length;
  const total = `${plural(findings.length, 'check')} on ${inert(cluster)}: ${plural(count('error'), 'error')}, ${plural(count('warning'), 'warning')}.`;
  return rows.length === 0 ? [total] : [table(['', 'CHECK', 'FINDING'], rows, width), '', total];
}

/** The commands of this module by their names. */
export const commands = { preflight: preflightCommand };
