import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import type { ExperimentSpec } from 'echelon-client/calls';
import { examples } from 'echelon-verify/cli/examples';
import { json, type Output } from 'echelon-verify/cli/output';
import { inert } from 'echelon-verify/text/inert';
import { commandLine, LINE_PER_PART } from '../../plan/command-line.ts';
import type { Client } from '../client.ts';
import { apiCommand, type ConnectionOptions, clientFor } from '../connection.ts';
import { readSpec } from '../folder-files.ts';
import { resolvedYaml } from '../resolved-spec.ts';
import { changedSpec, type SpecChanges, withSpecChanges } from '../spec-changes.ts';
import { requireKind } from '../spec-file.ts';
import { watchExperiment } from './watch.ts';

interface Options extends ConnectionOptions, SpecChanges {
  idempotencyKey?: string;
  watch?: boolean;
  dryRun?: boolean;
  json?: boolean;
}

/** Adds `--idempotency-key` to a command that submits. */
export function withIdempotencyKey(command: Command): Command {
  return command.option(
    '--idempotency-key <key>',
    'a repeated submission with this key returns the first result (default: a random key)',
  );
}

/** The header of `--idempotency-key`. */
export function idempotencyHeader({ idempotencyKey }: { idempotencyKey?: string }) {
  return { 'idempotency-key': idempotencyKey ?? randomUUID() };
}

/** `echelon submit FILE`: queues an experiment, or shows what it would run. */
export function submitCommand(output: Output): Command {
  return withIdempotencyKey(withSpecChanges(apiCommand('submit')))
    .description('Submit an experiment from a YAML or JSON file. The id of the experiment is printed.')
    .argument('<file>', 'file with the spec; - is standard input')
    .option('--dry-run', 'show the spec with its defaults and the exact command line; submit nothing')
    .option('-w, --watch', 'follow the experiment until it has ended')
    .addHelpText(
      'after',
      examples(
        'echelon submit deploy/examples/hgpo.yaml --watch',
        'echelon submit --dry-run deploy/examples/hgpo.yaml',
        'echelon submit deploy/examples/hgpo.yaml --set training.seed=2 --name "seed 2"',
      ),
    )
    .action(async (file: string, options: Options) => {
      const [client, given] = [await clientFor(options), await readSpec(file)];
      requireKind(file, given, 'experiment');
      // The API validates it.
      const body = changedSpec(given, options) as ExperimentSpec;
      if (options.dryRun) return await showPlan({ client, body, output, asJson: options.json });
      const headers = idempotencyHeader(options);
      const accepted = await client.post('/v1/experiments', { body, headers });
      if (options.watch)
        return watchExperiment({ client, id: accepted.id, output, json: options.json ?? false });
      output.line(options.json ? json(accepted) : accepted.id);
    });
}

async function showPlan(input: {
  client: Client;
  body: ExperimentSpec;
  output: Output;
  asJson: boolean | undefined;
}): Promise<void> {
  const { client, body, output, asJson } = input;
  const plan = await client.post('/v1/plans', { body });
  for (const { severity, message, remedy } of plan.checks) output.remark(`${severity}: ${message} ${remedy}`);
  if (asJson) return output.line(json(plan));
  const command = commandLine(plan.plan, LINE_PER_PART);
  output.line(inert(`${resolvedYaml(plan.resolved, plan.defaults)}\n\n${command}`));
}
