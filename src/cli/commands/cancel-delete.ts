import type { Command } from 'commander';
import type { ExperimentDetail } from '../../schemas/api.ts';
import type { Experiment } from '../../schemas/experiment.ts';
import type { Sweep } from '../../schemas/sweep.ts';
import { type Ask, askAtTerminal } from '../ask.ts';
import type { Client } from '../client.ts';
import { apiCommand, type ConnectionOptions, clientFor } from '../connection.ts';
import { CliError, EXIT } from '../exit.ts';
import { NAMES_IT, type Named, named } from '../names.ts';
import { inert, json, type Output, plural } from '../output.ts';
import { patient } from '../patient.ts';

type Options = ConnectionOptions & { json?: boolean };

/** `echelon cancel` and `echelon delete`, of any number of experiments and sweeps. */
export function cancelDeleteCommands(output: Output, ask: Ask = askAtTerminal): Command[] {
  return [cancel(output), remove(output, ask)];
}

const pathOf = ({ kind, id }: Named): string => `/v1/${kind}s/${encodeURIComponent(id)}`;

function cancel(output: Output): Command {
  return apiCommand('cancel')
    .summary('cancel experiments or sweeps and free their GPUs')
    .description(
      'cancel experiments or sweeps: their processes are ended and their GPUs freed within the grace period',
    )
    .argument('<id...>', `of experiments or sweeps: ${NAMES_IT}`)
    .addHelpText(
      'after',
      '\n--json prints the experiment or the sweep; of several, a list of what became of each.\n\nExamples:\n  echelon cancel exp-00cz8h3k7n2q4r5s6t7v\n  echelon cancel @last "a name" swp-00cz8h3k7n2q4r5s6t7v',
    )
    .action(async (names: string[], options: Options) => {
      const client = await clientFor(options);
      const outcomes = await each({
        names,
        output,
        isQuiet: options.json === true,
        find: (name) => named(client, name, ['experiment', 'sweep']),
        act: async (what) => {
          const ended = await client.post<ExperimentDetail | Sweep>(`${pathOf(what)}/cancel`, undefined);
          return { text: `${ended.id} ${ended.state}`, answer: ended };
        },
      });
      if (options.json) {
        const [first] = outcomes;
        if (names.length > 1) output.line(json(outcomes.map(({ answer: _, ...rest }) => rest)));
        else if (first!.done) output.line(json(first!.answer));
      }
      refuse(outcomes, 'cancelled');
    });
}

function remove(output: Output, ask: Ask): Command {
  return apiCommand('delete')
    .alias('rm')
    .summary('delete experiments that have ended, or those of sweeps')
    .description(
      'delete experiments that have ended, with all that was recorded of them; of a sweep, all its experiments, and retention deletes its own record later',
    )
    .argument('<id...>', `of experiments or sweeps: ${NAMES_IT}`)
    .option('-y, --yes', 'do not ask')
    .addHelpText(
      'after',
      '\nExamples:\n  echelon delete exp-00cz8h3k7n2q4r5s6t7v\n  echelon ls --state failed --json | jq -r ".items[].id" | xargs echelon delete --yes',
    )
    .action(async (names: string[], options: Options & { yes?: boolean }) => {
      const client = await clientFor(options);
      const found = await Promise.all(names.map((name) => named(client, name, ['experiment', 'sweep'])));
      if (!options.yes) await confirm(found, ask);
      const outcomes = await each({
        names: found.map(({ id }) => id),
        output,
        isQuiet: options.json === true,
        find: async (id) => found.find((one) => one.id === id)!,
        act: async (what) => {
          if (what.kind === 'experiment') await client.delete(pathOf(what));
          const of =
            what.kind === 'sweep'
              ? `: ${plural(await deleteChildren(client, what.id, output), 'experiment')}`
              : '';
          return { text: `${what.id} deleted${of}`, answer: undefined };
        },
      });
      if (options.json)
        output.line(
          json(outcomes.map(({ id, done, reason }) => ({ id, deleted: done, ...(reason && { reason }) }))),
        );
      refuse(outcomes, 'deleted');
    });
}

/** Deletes the experiments of a sweep, those that were run again included; how many there were. */
async function deleteChildren(client: Client, sweep: string, output: Output): Promise<number> {
  let id = '';
  const removeOne = patient(() => client.delete(`/v1/experiments/${id}`), { output });
  for (let deleted = 0; ; ) {
    const page = await client.get<{ items: Experiment[] }>('/v1/experiments', { sweep, limit: 200 });
    if (page.items.length === 0) return deleted;
    for (const item of page.items) {
      id = item.id;
      await removeOne();
      deleted++;
    }
  }
}

async function confirm(found: readonly Named[], ask: Ask): Promise<void> {
  const [one] = found;
  const what = found.length === 1 ? `${one!.kind} ${one!.id}` : `these ${found.length} (${listed(found)})`;
  const answer = await ask(`Delete ${what} with all that was recorded? This cannot be undone. [y/N] `);
  if (answer === undefined)
    throw new CliError(EXIT.usage, 'There is no terminal to ask at; --yes deletes without asking.');
  if (!/^y(es)?$/i.test(answer.trim())) throw new CliError(EXIT.notOk, 'Nothing was deleted.');
}

function listed(found: readonly Named[]): string {
  const shown = found.slice(0, 5).map(({ id }) => id);
  return found.length > shown.length ? `${shown.join(', ')}, …` : shown.join(', ');
}

/** What became of one of several. */
interface Outcome<T> {
  id: string;
  done: boolean;
  answer?: T;
  reason?: string;
  error?: CliError;
}

/** Does the same with each; a refusal of one does not keep the others. */
async function each<T>(input: {
  names: readonly string[];
  output: Output;
  /** Nothing is said of the single ones. */
  isQuiet: boolean;
  find: (name: string) => Promise<Named>;
  act: (what: Named) => Promise<{ text: string; answer: T }>;
}): Promise<Outcome<T>[]> {
  const { names, output, isQuiet, find, act } = input;
  const outcomes: Outcome<T>[] = [];
  for (const name of names) {
    let id = name;
    try {
      const what = await find(name);
      id = what.id;
      const { text, answer } = await act(what);
      outcomes.push({ id, done: true, answer });
      if (!isQuiet) output.line(inert(text));
    } catch (error) {
      if (!(error instanceof CliError) || error.exitCode === EXIT.unreachable) throw error;
      outcomes.push({ id, done: false, reason: error.message, error });
      if (!isQuiet && names.length > 1) output.remark(inert(`${id}: ${error.message}`));
    }
  }
  return outcomes;
}

/** Throws where one was refused: of one alone, what was said of it. */
function refuse(outcomes: readonly Outcome<unknown>[], what: string): void {
  const refused = outcomes.filter(({ done }) => !done);
  if (refused.length === 0) return;
  if (outcomes.length === 1) throw refused[0]!.error!;
  throw new CliError(EXIT.refused, `${refused.length} of ${outcomes.length} were not ${what}.`);
}
