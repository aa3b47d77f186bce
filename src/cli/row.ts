import { examples } from 'command-kit/examples';
import { json, type Output } from 'command-kit/output';
import { wrapped } from 'command-kit/width';
import type { Command, Option } from 'commander';
import type { Answer, Input, Method, PathOf } from 'echelon-client/calls';
import { type Client, readPages } from './client.ts';
import { type ApiOptions, apiCommand, clientFor, IDEMPOTENCY_KEY } from './connection.ts';
import { experimentNamed, NAME_FORMS, sweepNamed } from './names.ts';

/** An argument or option as commander takes it: flags and description, then a parser, a default, or both. */
type Part = readonly [flags: string, description: string, parserOrDefault?: unknown, fallback?: unknown];

/**
 * Arguments, options and parameters of the path by their names, the address of the API, the width for tables, and the time by
 * the server's clock.
 */
type Given<M extends Method, P extends PathOf<M>, G> = G &
  (Input<M, P> extends { path: infer Parameters } ? Parameters : unknown) & {
    url: string;
    width: number | undefined;
    readonly now: number;
  };

/** A command that makes one request. `G`: the types of its arguments and options. */
interface Row<M extends Method, P extends PathOf<M>, G> {
  name: string;
  description: string;
  arguments?: readonly Part[];
  /** A function makes an option with choices or conflicts: an option belongs to one command. */
  options?: readonly (Part | (() => Option))[];
  examples: readonly string[];
  verb: M;
  /**
   * The arguments fill its parameters in their order. That of an experiment or a sweep may be any form of its name; `given`
   * then has its id.
   */
  path: P;
  /** What the request carries beside the parameters of its path. */
  input?: (given: G, client: Client, output: Output) => Carried<M, P> | Promise<Carried<M, P>>;
  /** The answer is a page of a list: reads as many pages of this size as `--limit` takes; all of them without that option. */
  pages?: number;
  /** What `--json` prints. Default: the answer. */
  json?: (answer: Answer<M, P>, given: Given<M, P, G>, client: Client) => unknown;
  /** The text for the user; a function that also has remarks writes to `output` itself. */
  print: (
    answer: Answer<M, P>,
    given: Given<M, P, G>,
    output: Output,
    client: Client,
  ) => string | undefined | Promise<string>;
}

type Carried<M extends Method, P extends PathOf<M>> = Omit<Input<M, P>, 'path'> & { path?: object };

/** The argument of a command on one experiment. */
export const EXPERIMENT = ['<id>', `experiment: ${NAME_FORMS}`] as const;

/** The argument of a command on one sweep. */
export const SWEEP = ['<id>', `sweep: ${NAME_FORMS}`] as const;

/** The command of a row. */
export function row<M extends Method, P extends PathOf<M>, G = unknown>(
  entry: Row<M, P, G>,
): (output: Output) => Command {
  return (output) => {
    const command = apiCommand(entry.name).description(entry.description);
    for (const part of entry.arguments ?? []) command.argument(...(part as [string, string]));
    return withOptions(command, entry.options ?? [])
      .addHelpText('after', examples(...entry.examples))
      .action(async () => answered(entry, command, output));
  };
}

/** Adds options to a command. */
export function withOptions(command: Command, options: readonly (Part | (() => Option))[]): Command {
  for (const option of options)
    if (typeof option === 'function') command.addOption(option());
    // Commander has the signatures of a part one by one.
    else command.option(...(option as [string, string]));
  return command;
}

/** Makes the request of a row with the arguments and options of its command, and prints the answer. */
async function answered<M extends Method, P extends PathOf<M>, G>(
  entry: Row<M, P, G>,
  command: Command,
  output: Output,
): Promise<void> {
  const options = command.opts<ApiOptions & { idempotencyKey?: string }>();
  const named = Object.fromEntries(
    command.registeredArguments.map((argument, at) => [argument.name(), command.processedArgs[at]]),
  );
  const client = await clientFor(options);
  const path = await parametersOf(entry.path, Object.values(named), client);
  const own = {
    url: client.url,
    width: output.columns,
    get now() {
      return client.now();
    },
  };
  const given = Object.assign(own, options, named, path) as unknown as Given<M, P, G>;
  const request = { path, ...(await entry.input?.(given, client, output)) };
  const call = (headers: object): Promise<Answer<M, P>> => send(client, entry, { ...request, headers });
  const answer = entry.options?.includes(IDEMPOTENCY_KEY)
    ? await (await import('./submission.ts')).submitted(
        { output, idempotencyKey: options.idempotencyKey },
        call,
      )
    : await call({});
  if (options.json) return output.line(json((await entry.json?.(answer, given, client)) ?? answer));
  const text = await entry.print(answer, given, output, client);
  if (text !== undefined) output.line(wrapped(text, own.width));
}

/** The parameters of a path, from the arguments in their order. */
async function parametersOf(
  path: string,
  values: unknown[],
  client: Client,
): Promise<Record<string, unknown>> {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const parameters = Object.fromEntries(names.map((name, at) => [name, values[at]]));
  if (path.startsWith('/v1/experiments/{id}'))
    parameters.id = await experimentNamed(client, parameters.id as string);
  if (/^\/v1\/(sweeps|comparisons)\/\{id\}/.test(path))
    parameters.id = await sweepNamed(client, parameters.id as string);
  return parameters;
}

/** The types of an operation are known where its row is written; the request is the same for every operation. */
async function send<M extends Method, P extends PathOf<M>>(
  client: Client,
  { verb, path, pages }: { verb: M; path: P; pages?: number },
  input: { path?: object; query?: object; headers?: object },
): Promise<Answer<M, P>> {
  const call = client[verb] as unknown as (path: P, input: object) => Promise<never>;
  if (pages === undefined) return call(path, input);
  const { limit, ...query } = (input.query ?? {}) as { limit?: number };
  const page = await readPages((place) => call(path, { ...input, query: { ...query, ...place } }), {
    ...(limit !== undefined && { limit }),
    maxPage: pages,
  });
  return page as Answer<M, P>;
}

/** The values without those that are undefined: what the user has given, as a body of a request. */
export function stated<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;
}
