import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline/promises';
import type { Command } from 'commander';
import type { Accepted, AttemptList } from '../../schemas/api.ts';
import type { Artifact, ArtifactPage } from '../../schemas/records.ts';
import { apiCommand, type ConnectionOptions, clientFor } from '../connection.ts';
import { CliError, EXIT } from '../exit.ts';
import { inert, json, type Output, table } from '../output.ts';
import { watchExperiment } from './watch.ts';

type Options = ConnectionOptions & { json?: boolean };

/** Asks the person at the terminal; undefined: there is none. */
export type Ask = (question: string) => Promise<string | undefined>;

/** What is done with experiments that are there already: rerun, rm, attempts, artifacts. */
export function recordCommands(output: Output, ask: Ask = askAtTerminal): Command[] {
  return [rerun(output), remove(output, ask), attempts(output), artifacts(output)];
}

const pathOf = (id: string): string => `/v1/experiments/${encodeURIComponent(id)}`;

function rerun(output: Output): Command {
  return apiCommand('rerun')
    .summary('run an experiment again, as a new one of the same spec')
    .description('run an experiment again, as a new one of the same spec; prints its id')
    .argument('<id>')
    .option('--key <key>', 'Idempotency-Key: the same key gives the same new experiment')
    .option('-w, --watch', 'follow it')
    .addHelpText('after', '\nExample:\n  echelon rerun exp-00cz8h3k7n2q4r5s6t7v --watch')
    .action(async (id: string, options: Options & { key?: string; watch?: boolean }) => {
      const client = await clientFor(options);
      const headers = { 'idempotency-key': options.key ?? randomUUID() };
      const accepted = await client.post<Accepted>(`${pathOf(id)}/rerun`, undefined, headers);
      if (options.watch)
        return watchExperiment({ client, id: accepted.id, output, json: options.json ?? false });
      output.line(options.json ? json(accepted) : accepted.id);
    });
}

function remove(output: Output, ask: Ask): Command {
  return apiCommand('rm')
    .summary('delete experiments that have ended, with all that was recorded')
    .description('delete experiments that have ended, with all that was recorded of them')
    .argument('<id...>')
    .option('-y, --yes', 'do not ask')
    .addHelpText(
      'after',
      '\nExamples:\n  echelon rm exp-00cz8h3k7n2q4r5s6t7v\n  echelon ls --state failed --json | jq -r ".items[].id" | xargs echelon rm --yes',
    )
    .action(async (ids: string[], options: Options & { yes?: boolean }) => {
      const client = await clientFor(options);
      if (!options.yes) await confirm(ids, ask);
      const outcomes: { id: string; deleted: boolean; reason?: string }[] = [];
      for (const id of ids) {
        try {
          await client.delete(pathOf(id));
          outcomes.push({ id, deleted: true });
          if (!options.json) output.line(`${inert(id)} deleted`);
        } catch (error) {
          // What stands behind the refused one may well be deleted.
          if (!(error instanceof CliError) || error.exitCode !== EXIT.refused) throw error;
          outcomes.push({ id, deleted: false, reason: error.message });
          if (!options.json) output.remark(`${inert(id)}: ${error.message}`);
        }
      }
      if (options.json) output.line(json(outcomes));
      const refused = outcomes.filter(({ deleted }) => !deleted).length;
      if (refused > 0) throw new CliError(EXIT.refused, `${refused} of ${ids.length} were not deleted.`);
    });
}

async function confirm(ids: readonly string[], ask: Ask): Promise<void> {
  const what = ids.length === 1 ? inert(ids[0]!) : `${ids.length} experiments`;
  const answer = await ask(`Delete ${what} with all that was recorded? This cannot be undone. [y/N] `);
  if (answer === undefined) {
    throw new CliError(EXIT.usage, 'There is no terminal to ask at; --yes deletes without asking.');
  }
  if (!/^y(es)?$/i.test(answer.trim())) throw new CliError(EXIT.notOk, 'Nothing was deleted.');
}

async function askAtTerminal(question: string): Promise<string | undefined> {
  return process.stdin.isTTY ? answerTo(question, process.stdin, process.stderr) : undefined;
}

/** What is typed; Ctrl-C and Ctrl-D are an empty answer. */
export async function answerTo(
  question: string,
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
): Promise<string> {
  const terminal = createInterface({ input, output, terminal: true });
  const left = Promise.withResolvers<string>();
  terminal.once('close', () => left.resolve('\n'));
  const answer = await Promise.race([terminal.question(question).catch(() => '\n'), left.promise]);
  terminal.close();
  // Whoever left has not ended the line.
  if (answer === '\n') output.write(answer);
  return answer.trim();
}

function attempts(output: Output): Command {
  return apiCommand('attempts')
    .summary('list the attempts of an experiment, and how each ended')
    .description('list the attempts of an experiment, where each ran and how it ended')
    .argument('<id>')
    .addHelpText('after', '\nExample:\n  echelon attempts exp-00cz8h3k7n2q4r5s6t7v')
    .action(async (id: string, options: Options) => {
      const client = await clientFor(options);
      const list = await client.get<AttemptList>(`${pathOf(id)}/attempts`);
      if (options.json) return output.line(json(list));
      if (list.items.length === 0) return output.line('It has not been tried yet.');
      const rows = list.items.map(({ attempt, cluster, claimedAt, confirmedAt, lastSequence, ended }) => [
        ...[attempt, inert(cluster), new Date(claimedAt).toISOString()],
        confirmedAt === null ? '-' : new Date(confirmedAt).toISOString(),
        ...[lastSequence, endOf(ended)],
      ]);
      output.line(table(['ATTEMPT', 'CLUSTER', 'CLAIMED', 'LAUNCHED', 'EVENTS', 'ENDED'], rows));
    });
}

/** How a driver ended, as its last event says. */
function endOf(ended: unknown): string {
  if (ended === null) return '-';
  const { cause, message } = ended as { cause: string; message: string };
  // What was stopped says so itself.
  const rest = message.startsWith(`${cause}: `) ? message.slice(cause.length + 2) : message;
  return inert(rest === '' ? cause : `${cause}: ${rest}`);
}

function artifacts(output: Output): Command {
  return apiCommand('artifacts')
    .summary('list what an experiment left on its cluster: its checkpoints')
    .description('list what an experiment left on its cluster: its checkpoints, in the order of their making')
    .argument('<id>')
    .addHelpText('after', '\nExample:\n  echelon artifacts exp-00cz8h3k7n2q4r5s6t7v')
    .action(async (id: string, options: Options) => {
      const client = await clientFor(options);
      const items: Artifact[] = [];
      let cursor: string | undefined;
      do {
        const page = await client.get<ArtifactPage>(`${pathOf(id)}/artifacts`, { limit: 200, cursor });
        items.push(...page.items);
        cursor = page.next ?? undefined;
      } while (cursor !== undefined);
      if (options.json) return output.line(json({ items }));
      if (items.length === 0) return output.line('Nothing was registered.');
      const rows = items.map(({ kind, step, attempt, at, path }) => [
        ...[kind, step, attempt, new Date(at).toISOString()],
        inert(path),
      ]);
      output.line(table(['KIND', 'STEP', 'ATTEMPT', 'AT', 'PATH'], rows));
    });
}
