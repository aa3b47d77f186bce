import { wholeNumber } from 'command-kit/arguments';
import { CliError, EXIT } from 'command-kit/exit';
import { InvalidArgumentError } from 'commander';
import { parse } from 'yaml';
import { placeProblem, toPointer, written } from '../plan/pointer.ts';

/** The changes of a spec that the command line asks for. */
export interface SpecChanges {
  set?: readonly Setting[];
  name?: string;
  priority?: number;
  project?: string;
}

/** A value and its JSON pointer in a spec. */
interface Setting {
  pointer: string;
  value: unknown;
}

/** The option that changes any value of a spec. */
export const SET = [
  '--set <path=value>',
  'set a value of the spec, such as training.seed=2; repeatable',
  setting,
] as const;

/** The options that change a spec. */
export const SPEC_CHANGES = [
  SET,
  ['--name <name>', 'name of the new experiment'],
  ['--priority <number>', 'priority from -100 to 100; higher starts first', wholeNumber(-100, 100)],
  ['--project <project>', 'project of the new experiment'],
] as const;

/** Adds the `path=value` of a repeated option; the value is YAML. Throws InvalidArgumentError for any other text. */
export function setting(text: string, before: readonly Setting[] = []): Setting[] {
  const equals = text.indexOf('=');
  if (equals <= 0) throw new InvalidArgumentError('It must be path=value, such as training.seed=2.');
  try {
    const value: unknown = parse(text.slice(equals + 1)) ?? null;
    return [...before, { pointer: toPointer(text.slice(0, equals)), value }];
  } catch (error) {
    throw new InvalidArgumentError(`${(error as Error).message.split('\n', 1)[0]}`);
  }
}

/** True if there is at least one change. */
export function changesSpec({ set, name, priority, project }: SpecChanges): boolean {
  return [set, name, priority, project].some((one) => one !== undefined);
}

/** A copy of the spec with the changes: first each `--set` in order, then `--name`, `--priority` and `--project`. */
export function changedSpec(spec: unknown, changes: SpecChanges): unknown {
  if (!changesSpec(changes)) return spec;
  const { set = [], name, priority, project } = changes;
  if (typeof spec !== 'object' || spec === null || Array.isArray(spec))
    throw new CliError(EXIT.usage, 'The spec is not an object, so no value of it can be set.');
  let changed = spec as Record<string, unknown>;
  for (const { pointer, value } of set) {
    const problem = placeProblem(changed, pointer);
    if (problem !== undefined) throw new CliError(EXIT.usage, `--set ${pointer} ${problem}`);
    changed = written(changed, pointer, value);
  }
  return {
    ...changed,
    ...(name !== undefined && { name }),
    ...(priority !== undefined && { priority }),
    ...(project !== undefined && { project }),
  };
}
