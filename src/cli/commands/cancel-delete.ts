import { createInterface } from 'node:readline/promises';
import { examples } from 'command-kit/examples';
import { CliError, EXIT } from 'command-kit/exit';
import { inert, inertText } from 'command-kit/inert';
import { json, type Output } from 'command-kit/output';
import { plural } from 'command-kit/plural';
import type { Command } from 'commander';
import { type Client, MAX_PAGE } from '../client.ts';
import { type ApiOptions, apiCommand, clientFor } from '../connection.ts';
import { NAME_FORMS, type Named, named } from '../names.ts';
import { retrying } from '../retrying.ts';

/** `echelon cancel ID…`, of any number of experiments and sweeps. */
function cancelCommand(output: Output): Command {
  return apiCommand('cancel')
    .description(
      'Cancel experiments or sweeps. Their processes end and their GPUs are free within the grace period. With --json, one id prints its resource, and several ids print a list of outcomes.',
    )
    .argument('<id...>', `experiments or sweeps: ${NAME_FORMS}`)
    .addHelpText(
      'after',
      examples(
        'echelon cancel exp-00cz8h3k7n2q4r5s6t7v',
        'echelon cancel @last "a name" swp-00cz8h3k7n2q4r5s6t7v',
      ),
    )
    .action(async (names: string[], options: ApiOptions) => {
      const client = await clientFor(options);
      const outcomes = await forEach({
        names,
        output,
        isQuiet: options.json === true,
        find: (name) => named(client, name, ['experiment', 'sweep']),
        act: async ({ kind, id }) => {
          const path = { id };
          const ended =
            kind === 'experiment'
              ? await client.post('/v1/experiments/{id}/cancel', { path })
              : await client.post('/v1/sweeps/{id}/cancel', { path });
          return { text: `${ended.id} ${ended.state}`, answer: ended };
        },
      });
      if (options.json) {
        const [first] = outcomes;
        if (names.length > 1) output.line(json(outcomes.map(({ answer: _, ...rest }) => rest)));
        else if (first!.done) output.line(json(first!.answer));
      }
      throwIfRefused(outcomes, 'cancelled');
    });
}

/** `echelon delete ID…`, of any number of experiments and sweeps. */
function deleteCommand(output: Output, ask: Ask = askAtTerminal): Command {
  return apiCommand('delete')
    .description(
      'Delete experiments that have ended, with everything that was recorded. For a sweep, delete all its experiments; retention deletes the record of the sweep later.',
    )
    .argument('<id...>', `experiments or sweeps: ${NAME_FORMS}`)
    .option('-y, --yes', 'delete without a question')
    .addHelpText(
      'after',
      examples(
        'echelon delete exp-00cz8h3k7n2q4r5s6t7v',
        'echelon ls --state failed --json | jq -r ".items[].id" | xargs echelon delete --yes',
      ),
    )
    .action(async (names: string[], options: ApiOptions & { yes?: boolean }) => {
      const client = await clientFor(options);
      const found = await Promise.all(names.map((name) => named(client, name, ['experiment', 'sweep'])));
      if (!options.yes) await confirm(found, ask);
      const outcomes = await forEach({
        names: found.map(({ id }) => id),
        output,
        isQuiet: options.json === true,
        find: async (id) => found.find((one) => one.id === id)!,
        act: async ({ kind, id }) => {
          if (kind === 'sweep') {
            const count = await deleteChildren(client, id, output);
            return { text: `${id} deleted: ${plural(count, 'experiment')}`, answer: undefined };
          }
          await client.delete('/v1/experiments/{id}', { path: { id } });
          return { text: `${id} deleted`, answer: undefined };
        },
      });
      if (options.json)
        output.line(
          json(outcomes.map(({ id, done, reason }) => ({ id, deleted: done, ...(reason && { reason }) }))),
        );
      throwIfRefused(outcomes, 'deleted');
    });
}

/** Deletes the experiments of a sweep, including children that ran again; returns their number. */
async function deleteChildren(client: Client, sweep: string, output: Output): Promise<number> {
  let id = '';
  const deleteOne = retrying(() => client.delete('/v1/experiments/{id}', { path: { id } }), { output });
  for (let deleted = 0; ; ) {
    const page = await client.get('/v1/experiments', { query: { sweep, limit: MAX_PAGE } });
    if (page.items.length === 0) return deleted;
    for (const item of page.items) {
      id = item.id;
      await deleteOne();
      deleted++;
    }
  }
}

async function confirm(found: readonly Named[], ask: Ask): Promise<void> {
  const [one] = found;
  const what =
    found.length === 1 ? `${one!.kind} ${one!.id}` : `these ${found.length} resources (${listed(found)})`;
  const answer = await ask(`Delete ${what} with all records? This cannot be undone. [y/N] `);
  if (answer === undefined)
    throw new CliError(
      EXIT.usage,
      'Nothing was deleted: there is no terminal for a confirmation. Confirm with --yes.',
    );
  if (!/^y(es)?$/i.test(answer.trim())) throw new CliError(EXIT.notOk, 'Nothing was deleted.');
}

function listed(found: readonly Named[]): string {
  const shown = found.slice(0, 5).map(({ id }) => id);
  return found.length > shown.length ? `${shown.join(', ')}, …` : shown.join(', ');
}

/** The outcome for one of several resources. */
interface Outcome<T> {
  id: string;
  done: boolean;
  answer?: T;
  reason?: string;
  error?: CliError;
}

/** Does the same with each resource. A refusal of one does not stop the others. */
async function forEach<T>(input: {
  names: readonly string[];
  output: Output;
  /** Prints nothing about single resources. */
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
      if (!isQuiet && names.length > 1) output.remark(inertText(`${id}: ${error.message}`));
    }
  }
  return outcomes;
}

/** Throws if at least one was refused. The refusal of a single resource is thrown unchanged. */
function throwIfRefused(outcomes: readonly Outcome<unknown>[], what: string): void {
  const refused = outcomes.filter(({ done }) => !done);
  if (refused.length === 0) return;
  if (outcomes.length === 1) throw refused[0]!.error!;
  throw new CliError(EXIT.refused, `${refused.length} of ${outcomes.length} were not ${what}.`);
}

/** The commands of this module by their names. */
export const commands = { cancel: cancelCommand, delete: deleteCommand };

/** Asks the user at the terminal. The answer is undefined if there is no terminal. */
export type Ask = (question: string) => Promise<string | undefined>;

/** Asks at the terminal of this process. */
const askAtTerminal: Ask = async (question) =>
  process.stdin.isTTY ? answerTo(question, process.stdin, process.stderr) : undefined;

/** The line that the user types. Ctrl-C and Ctrl-D count as an empty answer. */
export async function answerTo(
  question: string,
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
): Promise<string> {
  const terminal = createInterface({ input, output, terminal: true });
  const closed = Promise.withResolvers<string>();
  terminal.once('close', () => closed.resolve('\n'));
  const answer = await Promise.race([terminal.question(question).catch(() => '\n'), closed.promise]);
  terminal.close();
  // Ctrl-C and Ctrl-D do not end the line.
  if (answer === '\n') output.write(answer);
  return answer.trim();
}
