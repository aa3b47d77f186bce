import type { Argument, Command, Option } from 'commander';
import { COMMANDS } from './commands.ts';
import { GLOBAL_OPTIONS } from './group.ts';
import { createProgram } from './program.ts';

const HEAD = `# Command line

After this page you can look up each command of \`echelon\` with its arguments, options, defaults and examples. The page is
generated from the program by \`npm run generate\`. The option \`--help\` of a command prints the same.

Exit status: 0 success, 1 negative result, 2 wrong usage or unreadable input, 3 no answer from the API, 4 refused by the API.`;

const NOTHING = { line: () => undefined, remark: () => undefined };

/** The text of docs/gen/cli.md: all commands by the headings of the help. */
export async function cliMarkdown(): Promise<string> {
  const program = await createProgram(NOTHING);
  const parts = [
    HEAD,
    `## Global options\n\nEvery command on the API has these options, and \`--json\` for output that scripts can read.\n\n${globals(program)}`,
  ];
  for (const [heading, entries] of COMMANDS) {
    parts.push(`## ${heading.replace(':', '')}`);
    for (const { name } of entries) {
      parts.push(...sections(program.commands.find((one) => one.name() === name)!, name));
    }
  }
  return `${parts.join('\n\n')}\n`;
}

function sections(command: Command, path: string): string[] {
  return [
    section(command, path),
    ...command.commands.flatMap((sub) => sections(sub, `${path} ${sub.name()}`)),
  ];
}

function section(command: Command, path: string): string {
  const alias = command.alias() === undefined ? '' : ` Alias: \`${command.alias()}\`.`;
  const usage =
    command.commands.length > 0 ? 'COMMAND' : command.registeredArguments.map(argumentTerm).join(' ');
  const rows = [
    ...command.registeredArguments.map((one) => [
      `\`${argumentTerm(one)}\``,
      one.description,
      defaultOf(one.defaultValue, one.defaultValueDescription),
    ]),
    ...command.options.filter(isOwn).map(optionRow),
  ];
  return [
    `### echelon ${`${path} ${usage}`.trim()}`,
    `${escaped(command.description())}${alias}`,
    ...(rows.length > 0 ? [list(rows)] : []),
    ...examplesOf(command),
  ].join('\n\n');
}

/** True for an option that the section of its command lists. */
const isOwn = ({ helpGroupHeading, long, description }: Option): boolean =>
  helpGroupHeading !== GLOBAL_OPTIONS && !(long === '--json' && description === 'print JSON');

function globals(program: Command): string {
  const ls = program.commands.find((one) => one.name() === 'ls')!;
  return list(ls.options.filter((one) => one.helpGroupHeading === GLOBAL_OPTIONS).map(optionRow));
}

function optionRow({
  flags,
  description,
  defaultValue,
  defaultValueDescription,
  envVar,
  argChoices,
}: Option) {
  const choices = argChoices === undefined ? '' : `: ${argChoices.join(', ')}`;
  const variable = envVar === undefined ? '' : ` (\`${envVar}\`)`;
  return [
    `\`${flags}\``,
    `${description}${choices}${variable}`,
    defaultOf(defaultValue, defaultValueDescription),
  ];
}

function defaultOf(value: unknown, description: string | undefined): string {
  if (description !== undefined) return `\`${description}\``;
  const isNone = value === undefined || (typeof value === 'object' && Object.keys(value ?? {}).length === 0);
  return isNone ? '' : `\`${String(value)}\``;
}

function argumentTerm(argument: Argument): string {
  const name = `${argument.name().toUpperCase()}${argument.variadic ? '…' : ''}`;
  return argument.required ? name : `[${name}]`;
}

const escaped = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;');

function list(rows: readonly string[][]): string {
  return rows
    .map(
      ([flags, description, value]) =>
        `- ${flags}: ${escaped(description!)}${value === '' ? '' : ` (default ${value})`}`,
    )
    .join('\n');
}

/** The examples at the end of the help text, as a block that can be copied. */
function examplesOf(command: Command): string[] {
  const parts: string[] = [];
  command.configureOutput({ writeOut: (text) => void parts.push(text), getOutHelpWidth: () => 1000 });
  command.outputHelp();
  const commands = parts
    .join('')
    .split('\n')
    .filter((line) => /^ {2}(?:[A-Z_]+=\S+ )?echelon /.test(line))
    .map((line) => line.trim());
  return commands.length === 0 ? [] : [`\`\`\`sh\n${commands.join('\n')}\n\`\`\``];
}
