import { Argument, Command } from 'commander';
import { examples } from 'echelon-verify/cli/examples';
import type { Output } from 'echelon-verify/cli/output';

const SHELLS = ['bash', 'zsh'] as const;

/** `echelon completion`: a script that completes commands, options and their choices in a shell. */
function completionCommand(output: Output): Command {
  return new Command('completion')
    .description('Print a script that completes commands, options and their values in a shell.')
    .addArgument(new Argument('<shell>', 'shell that runs the script').choices(SHELLS))
    .addHelpText(
      'after',
      examples(
        'echelon completion bash > ~/.local/share/bash-completion/completions/echelon',
        "echelon completion zsh > ~/.echelon-completion && echo 'source ~/.echelon-completion' >> ~/.zshrc",
      ),
    )
    .action((shell: (typeof SHELLS)[number], _options: unknown, command: Command) => {
      output.line(completionScript(command.parent!, shell));
    });
}

/**
 * The script for all commands of `program`. It contains every word: a call of the program at each key would take too long.
 */
export function completionScript(program: Command, shell: (typeof SHELLS)[number]): string {
  const places = placesOf(program, ['']);
  const commands = places.map(({ paths, command }) => branch(paths, command.commands.flatMap(namesOf)));
  const options = places.map(({ paths, command }) =>
    branch(paths, [...command.options.map(({ long }) => long ?? ''), '--help']),
  );
  const values = places.flatMap(({ paths, command }) =>
    command.options
      .filter(({ argChoices }) => argChoices !== undefined)
      .map(({ long, argChoices }) =>
        branch(
          paths.map((path) => `${path} ${long}`.trim()),
          argChoices!,
        ),
      ),
  );
  return [
    // zsh can run completion scripts of bash.
    ...(shell === 'zsh'
      ? ['autoload -U +X compinit && compinit', 'autoload -U +X bashcompinit && bashcompinit']
      : []),
    ...asFunction('_echelon_commands', commands),
    ...asFunction('_echelon_options', options),
    ...asFunction('_echelon_values', values),
    BODY,
  ].join('\n');
}

/** A command, and every path by which it can be called: aliases lead to several. */
interface Place {
  paths: string[];
  command: Command;
}

const namesOf = (command: Command): string[] => [command.name(), ...command.aliases()];

function placesOf(command: Command, paths: string[]): Place[] {
  const below = command.commands.flatMap((sub) =>
    placesOf(
      sub,
      paths.flatMap((path) => namesOf(sub).map((name) => `${path} ${name}`.trim())),
    ),
  );
  return [{ paths, command }, ...below];
}

const branch = (paths: readonly string[], words: readonly string[]): string =>
  words.length === 0 ? '' : `    ${paths.map((path) => `'${path}'`).join('|')}) echo '${words.join(' ')}' ;;`;

const asFunction = (name: string, branches: readonly string[]): string[] => [
  `${name}() {`,
  '  case "$1" in',
  ...branches.filter((line) => line !== ''),
  '  esac',
  '}',
];

const BODY = `_echelon() {
  local at='' word words current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}"
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case " $(_echelon_commands "$at") " in *" $word "*) at="\${at:+$at }$word" ;; esac
  done
  words=$(_echelon_values "\${at:+$at }$before")
  if [ -z "$words" ]; then
    case "$current" in -*) words=$(_echelon_options "$at") ;; *) words=$(_echelon_commands "$at") ;; esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _echelon echelon`;

/** The commands of this module by their names. */
export const commands = { completion: completionCommand };
