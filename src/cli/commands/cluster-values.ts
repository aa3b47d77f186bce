import { readFile } from 'node:fs/promises';
import { CliError, EXIT } from 'command-kit/exit';
import { inert } from 'command-kit/inert';
import { InvalidArgumentError } from 'commander';

/** Labels or variables by their names. */
export type Values = Record<string, string>;

/** Adds the `key=value` of a repeated option. Throws InvalidArgumentError for any other text. */
export function labelOption(text: string, before: Values = {}): Values {
  if (text.endsWith('=')) throw new InvalidArgumentError('It must be key=value.');
  return variableOption(text, before);
}

/** As {@link labelOption}; the value may be empty or contain `=`. */
export function variableOption(text: string, before: Values = {}): Values {
  const equals = text.indexOf('=');
  if (equals <= 0) throw new InvalidArgumentError('It must be key=value.');
  return { ...before, [text.slice(0, equals)]: text.slice(equals + 1) };
}

/** Sizes of nodes as the API takes them. */
export type NodeTypes = { gpus: number; cpus: number; max: number; labels?: Values }[];

/** Adds the node type of a repeated option, `gpus=4,cpus=32,max=8,LABEL=VALUE`; `none` begins an empty list. Throws as {@link labelOption}. */
export function nodeTypeOption(text: string, before: NodeTypes = []): NodeTypes {
  if (text === 'none') return [];
  const found = /^(?:gpus=(\d+),)?cpus=(\d+),max=(\d+)((?:,[^,=]+=[^,]+)*)$/.exec(text);
  if (!found) throw new InvalidArgumentError('It must be gpus=N,cpus=N,max=N, or cpus=N,max=N, then labels.');
  const [gpus, cpus, max] = found.slice(1, 4).map((digits) => Number(digits ?? 0)) as [
    number,
    number,
    number,
  ];
  const labels = found[4]!
    .split(',')
    .slice(1)
    .reduce((all, one) => labelOption(one, all), {});
  return [...before, { gpus, cpus, max, ...(found[4] !== '' && { labels }) }];
}

/** The values with changes: `key=` removes a key. */
export function changedValues(before: Values, changes: Values): Values {
  const entries = Object.entries({ ...before, ...changes });
  return Object.fromEntries(entries.filter(([key, value]) => value !== '' || !Object.hasOwn(changes, key)));
}

/** Values as `key=value`, inert. A value of several lines must not look like several variables. */
export function valuesInWords(values: Values): string {
  const shown = Object.entries(values).map(
    ([key, value]) => `${key}=${/[\n\r\t]/.test(value) ? JSON.stringify(value) : value}`,
  );
  return shown.map(inert).join(' ') || 'none';
}

/** The text of a file that an option names. Throws a {@link CliError}. */
export async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new CliError(EXIT.usage, `Cannot read ${file}: ${(error as Error).message}`);
  }
}
