import { Argument, Command } from 'commander';
import type { Output } from '../output.ts';

const SHELLS = ['bash', 'zsh'] as const;

/** `echelon completion`: a script by which a shell completes commands, options and their choices. */
export function completionCommand(output: Output): Command {
  return new Command('completion')
    .summary('print a script by which bash or zsh complete commands')
    .description('print a script by which a shell completes commands, options and their values')
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .addHelpText(
      'after',
      `
Examples:
  echelon completion bash > ~/.local/share/bash-completion/completions/echelon
  echelon completion zsh > ~/.echelon-completion && echo 'source ~/.echelon-completion' >> ~/.zshrc`,
    )
    .action((shell: (typeof SHELLS)[number], _options: unknown, command: Command) => {
      output.line(completionScript(command.parent!, shell));
    });
}

/**
 * The script for all commands of `program`. It holds every word itself: asking the program at each press of a key would
 * take most of a second.
 */
export function completionScript(program: Command, shell: (typeof SHELLS)[number]): string {
  const places = placesOf(program, '');
  const commands = places.map(({ path, command }) =>
    branch(
      path,
      command.commands.map((sub) => sub.name()),
    ),
  );
  const options = places.map(({ path, command }) =>
    branch(path, [...command.options.map(({ long }) => long ?? ''), '--help']),
  );
  const values = places.flatMap(({ path, command }) =>
    command.options
      .filter(({ argChoices }) => argChoices !== undefined)
      .map(({ long, argChoices }) => branch(`${path} ${long}`.trim(), argChoices!)),
  );
  return [
    // zsh understands bash's way where it is asked to.
    ...(shell === 'zsh'
      ? ['autoload -U +X compinit && compinit', 'autoload -U +X bashcompinit && bashcompinit']
      : []),
    ...asFunction('_echelon_commands', commands),
    ...asFunction('_echelon_options', options),
    ...asFunction('_echelon_values', values),
    BODY,
  ].join('\n');
}

interface Place {
  path: string;
  command: Command;
}

function placesOf(command: Command, path: string): Place[] {
  const below = command.commands.flatMap((sub) => placesOf(sub, `${path} ${sub.name()}`.trim()));
  return [{ path, command }, ...below];
}

const branch = (path: string, words: readonly string[]): string =>
  words.length === 0 ? '' : `    '${path}') echo '${words.join(' ')}' ;;`;

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
