import { shellWord } from 'command-kit/shell-word';
import type { LaunchPlan } from '../core/launch-plan.ts';

/** A separator of {@link commandLine}: the shell continues the line. */
export const LINE_PER_PART = ' \\\n  ';

/**
 * The command that a plan runs, for a POSIX shell: variables, program, arguments. It is for people; Echelon never passes it to
 * a shell. `separator` stands between its parts; {@link LINE_PER_PART} gives each part a line.
 */
export function commandLine(
  plan: Pick<LaunchPlan, 'environment' | 'secrets' | 'module' | 'arguments'>,
  separator = ' ',
): string {
  const variables = Object.entries(plan.environment)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, value]) => `${name}=${shellWord(value)}`);
  // A user who tries the command must set these variables.
  const secrets = Object.keys(plan.secrets ?? {})
    .sort()
    .map((name) => `${name}="$${name}"`);
  const program = `python -m ${shellWord(plan.module)}`;
  return [...variables, ...secrets, program, ...plan.arguments.map(shellWord)].join(separator);
}
