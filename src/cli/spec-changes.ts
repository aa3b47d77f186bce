import { type Command, InvalidArgumentError } from 'commander';
import { parse } from 'yaml';
import { placeProblem, toPointer, writeAt } from '../plan/pointer.ts';
import { wholeNumber } from './arguments.ts';
import { CliError, EXIT } from './exit.ts';

/** What the command line changes of a spec. */
export interface SpecChanges {
  set?: readonly Setting[];
  name?: string;
  priority?: number;
  project?: string;
}

/** A value and its place in a spec. */
interface Setting {
  pointer: string;
  value: unknown;
}

/** Adds `--set`, `--name`, `--priority` and `--project` to a command. */
export function withSpecChanges(command: Command): Command {
  return command
    .option('--set <path=value>', 'change a value of the spec (training.seed=2); may be repeated', setting)
    .option('--name <name>', 'name of the experiment')
    .option('--priority <number>', 'from -100 to 100, higher starts first', wholeNumber(-100, 100))
    .option('--project <project>', 'project of the experiment');
}

/** One more `path=value` of a repeated option; the value is read as YAML. Throws InvalidArgumentError for what is none. */
export function setting(text: string, before: readonly Setting[] = []): Setting[] {
  const equals = text.indexOf('=');
  if (equals <= 0) throw new InvalidArgumentError('not path=value, such as training.seed=2');
  try {
    const value: unknown = parse(text.slice(equals + 1)) ?? null;
    return [...before, { pointer: toPointer(text.slice(0, equals)), value }];
  } catch (error) {
    throw new InvalidArgumentError(`${(error as Error).message.split('\n', 1)[0]}`);
  }
}

/** True where there is something to change. */
export function changesSpec({ set, name, priority, project }: SpecChanges): boolean {
  return [set, name, priority, project].some((one) => one !== undefined);
}

/** The spec with the changes, in the order of the command line, `--name` and the like last; the given one stays as it is. */
export function changedSpec(spec: unknown, changes: SpecChanges): unknown {
  if (!changesSpec(changes)) return spec;
  const { set = [], name, priority, project } = changes;
  if (typeof spec !== 'object' || spec === null || Array.isArray(spec))
    throw new CliError(EXIT.usage, 'The spec is no object, so that nothing of it can be changed.');
  const changed = structuredClone(spec) as Record<string, unknown>;
  for (const { pointer, value } of set) {
    const problem = placeProblem(changed, pointer);
    if (problem !== undefined) throw new CliError(EXIT.usage, `--set ${pointer} ${problem}`);
    writeAt(changed, pointer, value);
  }
  return {
    ...changed,
    ...(name !== undefined && { name }),
    ...(priority !== undefined && { priority }),
    ...(project !== undefined && { project }),
  };
}
