import { examples } from 'command-kit/examples';
import { CliError, EXIT } from 'command-kit/exit';
import { inert, inertText } from 'command-kit/inert';
import { json, type Output } from 'command-kit/output';
import { wrapped } from 'command-kit/width';
import type { Command } from 'commander';
import type { ExperimentSpec } from 'echelon-client/calls';
import { Document, isScalar, visit } from 'yaml';
import { commandLine, LINE_PER_PART } from '../../plan/command-line.ts';
import type { Client } from '../client.ts';
import { type ApiOptions, apiCommand, clientFor, withIdempotencyKey } from '../connection.ts';
import { readSpec } from '../folder-files.ts';
import { NAME_FORMS, named } from '../names.ts';
import { withOptions } from '../row.ts';
import { changedSpec, changesSpec, SET, SPEC_CHANGES, type SpecChanges } from '../spec-changes.ts';
import { requireKind } from '../spec-file.ts';
import { submitted } from '../submission.ts';
import { whatIfText } from '../what-if.ts';
import { watchSweep } from './sweep-watch.ts';
import { watchExperiment } from './watch.ts';

interface Options extends ApiOptions, SpecChanges {
  idempotencyKey?: string;
  watch?: boolean;
  dryRun?: boolean;
}

function submit(output: Output): Command {
  return withIdempotencyKey(withOptions(apiCommand('submit'), SPEC_CHANGES))
    .description('Submit an experiment from a YAML or JSON file. The id of the experiment is printed.')
    .argument('<file>', 'file with the spec; - is standard input')
    .option(
      '--dry-run',
      'show the spec with its defaults, the exact command line, the start and the experiments that it would delay; submit nothing',
    )
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
      const [client, given] = [await clientFor(options), await readSpec(file, output)];
      requireKind(file, given, 'experiment');
      // The API validates it.
      const body = changedSpec(given, options) as ExperimentSpec;
      if (options.dryRun) return await showPlan({ client, body, output, asJson: options.json });
      const accepted = await submitted({ output, ...options }, (headers) =>
        client.post('/v1/experiments', { body, headers }),
      );
      warn(output, accepted.warnings);
      if (options.watch) output.remark(`Submitted ${accepted.id}.`);
      if (options.watch)
        return watchExperiment({ client, id: accepted.id, output, json: options.json ?? false });
      output.line(options.json ? json(accepted) : accepted.id);
    });
}

/** Prints what the user should know of an accepted spec. */
const warn = (output: Output, warnings: readonly string[]): void => {
  for (const warning of warnings) output.remark(inert(`warning: ${warning}`));
};

async function showPlan(input: {
  client: Client;
  body: ExperimentSpec;
  output: Output;
  asJson: boolean | undefined;
}): Promise<void> {
  const { client, body, output, asJson } = input;
  const plan = await client.post('/v1/plans', { body });
  const start = await client.post('/v1/queues/what-if', { body: { spec: body } });
  for (const { severity, message, remedy } of plan.checks) output.remark(`${severity}: ${message} ${remedy}`);
  if (asJson) return output.line(json({ ...plan, start }));
  const command = commandLine(plan.plan, LINE_PER_PART);
  output.line(inertText(`${resolvedYaml(plan.resolved, plan.defaults)}\n\n${command}\n`));
  output.line(wrapped(whatIfText(start, client.now(), output.columns), output.columns));
}

/**
 * A resolved spec as YAML with a comment after each default. `defaults` are the JSON pointers of the defaults; a pointer
 * covers everything below it.
 */
export function resolvedYaml(spec: object, defaults: readonly string[]): string {
  const filled = new Set(defaults);
  const first = ['name', 'engine', 'estimator'].flatMap((key) =>
    Object.entries(spec).filter(([k]) => k === key),
  );
  const document = new Document({ ...Object.fromEntries(first), ...spec });
  visit(document, {
    Pair(_key, pair, path) {
      const keys = [...path.flatMap((node) => ('key' in node ? [node] : [])), pair].map(({ key }) => key);
      const names = keys.map((key) =>
        String(isScalar(key) ? key.value : key)
          .replace(/~/g, '~0')
          .replace(/\//g, '~1'),
      );
      const isDefault = names.some((_name, at) => filled.has(`/${names.slice(0, at + 1).join('/')}`));
      if (isDefault && isScalar(pair.value)) pair.value.comment = ' default';
    },
  });
  return document.toString({ lineWidth: 0 }).trimEnd();
}

function rerun(output: Output): Command {
  return withIdempotencyKey(withOptions(apiCommand('rerun'), [SET]))
    .description(
      'Submit the spec of an experiment again, with the changes of --set. The id of the new experiment is printed. Of a sweep, run the failed children again.',
    )
    .argument('<id>', `experiment or sweep: ${NAME_FORMS}`)
    .option('-w, --watch', 'follow the experiment until it has ended')
    .addHelpText(
      'after',
      examples(
        'echelon rerun @last --watch',
        'echelon rerun exp-00cz8h3k7n2q4r5s6t7v --set training.seed=2 --set name=again',
        'echelon rerun swp-00cz8h3k7n2q4r5s6t7v',
      ),
    )
    .action(async (name: string, options: Options) => {
      const client = await clientFor(options);
      const { kind, id } = await named(client, name, ['experiment', 'sweep']);
      if (kind === 'sweep') return await rerunFailed({ client, id, options, output });
      const body = changesSpec(options) ? await changedBody({ client, id, changes: options }) : undefined;
      const accepted = await submitted({ output, ...options }, (headers) =>
        body === undefined
          ? client.post('/v1/experiments/{id}/rerun', { path: { id }, headers })
          : client.post('/v1/experiments', { body, headers }),
      );
      warn(output, accepted.warnings);
      if (options.watch) output.remark(`Submitted ${accepted.id}.`);
      if (options.watch)
        return watchExperiment({ client, id: accepted.id, output, json: options.json ?? false });
      output.line(options.json ? json(accepted) : accepted.id);
    });
}

/** Runs the failed children of a sweep again, with the specs that they have. */
async function rerunFailed(input: {
  client: Client;
  id: string;
  options: Options;
  output: Output;
}): Promise<void> {
  const { client, id, options, output } = input;
  if (changesSpec(options))
    throw new CliError(EXIT.usage, 'The children of a sweep run again as they are. Omit --set.');
  const answer = await client.post('/v1/sweeps/{id}/rerun-failed', { path: { id } });
  if (options.watch && answer.rerun > 0)
    return watchSweep({ client, id, output, json: options.json ?? false });
  if (options.json) return output.line(json(answer));
  const { rerun: count } = answer;
  if (count === 0) return output.line('No child has failed; nothing runs again.');
  output.line(`${count === 1 ? '1 child runs' : `${count} children run`} again.`);
}

/** The spec of an experiment with changes, in the project of the experiment unless the changes name another. */
async function changedBody(input: {
  client: Client;
  id: string;
  changes: SpecChanges;
}): Promise<ExperimentSpec> {
  const { client, id, changes } = input;
  const { submitted: spec, project } = await client.get('/v1/experiments/{id}', { path: { id } });
  // The API validates it.
  return changedSpec({ project, ...spec }, changes) as ExperimentSpec;
}

/** The commands that submit an experiment: `echelon submit` and `rerun`. */
export const commands = { submit, rerun };
