import type { LaunchPlan } from '../core/launch-plan.ts';

/**
 * The command that a plan runs, as one line for a POSIX shell: variables, program, arguments. For people to read
 * and try; nothing of ours passes it to a shell.
 */
export function commandLine(
  plan: Pick<LaunchPlan, 'environment' | 'secrets' | 'module' | 'arguments'>,
): string {
  const variables = Object.entries(plan.environment)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([name, value]) => `${name}=${quoted(value)}`);
  // Whoever tries the command has to have their values.
  const secrets = Object.keys(plan.secrets ?? {})
    .sort()
    .map((name) => `${name}="$${name}"`);
  return [...variables, ...secrets, 'python', '-m', quoted(plan.module), ...plan.arguments.map(quoted)].join(
    ' ',
  );
}

function quoted(text: string): string {
  return /^[A-Za-z0-9_./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
