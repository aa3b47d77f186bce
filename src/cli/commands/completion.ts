import { examples } from 'command-kit/examples';
import type { Output } from 'command-kit/output';
import { Argument, Command } from 'commander';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

type Shell = (typeof SHELLS)[number];

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
        'echelon completion fish > ~/.config/fish/completions/echelon.fish',
      ),
    )
    .action((shell: Shell, _options: unknown, command: Command) => {
      output.line(completionScript(command.parent!, shell));
    });
}

/**
 * The script for all commands of `program`. It contains every word: a call of the program at each key would take too long.
 */
export function completionScript(program: Command, shell: Shell): string {
  const places = placesOf(program, ['']);
  const tables = {
    commands: places.map(({ paths, command }) => ({ paths, words: command.commands.flatMap(namesOf) })),
    options: places.map(({ paths, command }) => ({
      paths,
      words: [...command.options.map(({ long }) => long ?? ''), '--help'],
    })),
    values: places.flatMap(({ paths, command }) =>
      command.options.map(({ long, argChoices }) => ({
        paths: paths.map((path) => `${path} ${long}`.trim()),
        words: argChoices ?? [],
      })),
    ),
  };
  const asFunction = shell === 'fish' ? fishFunction : bashFunction;
  const functions = Object.entries(tables).map(([name, branches]) =>
    asFunction(
      `_echelon_${name}`,
      branches.filter(({ words }) => words.length > 0),
    ),
  );
  // zsh can run completion scripts of bash.
  const start =
    shell === 'zsh'
      ? ['autoload -U +X compinit && compinit', 'autoload -U +X bashcompinit && bashcompinit']
      : [];
  return [...start, ...functions, shell === 'fish' ? FISH : BASH].join('\n');
}

/** What can follow on the command line after each of these paths. */
interface Branch {
  paths: readonly string[];
  words: readonly string[];
}

const bashFunction = (name: string, branches: readonly Branch[]): string =>
  [
    `${name}() {`,
    '  case "$1" in',
    ...branches.map(
      ({ paths, words }) => `    ${paths.map((path) => `'${path}'`).join('|')}) echo '${words.join(' ')}' ;;`,
    ),
    '  esac',
    '}',
  ].join('\n');

const fishFunction = (name: string, branches: readonly Branch[]): string =>
  [
    `function ${name}`,
    '  switch "$argv[1]"',
    ...branches.flatMap(({ paths, words }) => [
      `    case ${paths.map((path) => `'${path}'`).join(' ')}`,
      `      printf '%s\\n' ${words.join(' ')}`,
    ]),
    '  end',
    'end',
  ].join('\n');

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

const BASH = `_echelon() {
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

const FISH = `function _echelon
  set -l at ''
  set -l before ''
  for word in (commandline -opc)[2..-1]
    contains -- $word (_echelon_commands "$at"); and set at (string trim "$at $word")
    set before $word
  end
  set -l words (_echelon_values (string trim "$at $before"))
  if test (count $words) -eq 0
    switch (commandline -ct)
      case '-*'
        set words (_echelon_options "$at")
      case '*'
        set words (_echelon_commands "$at")
    end
  end
  if test (count $words) -eq 0
    __fish_complete_path (commandline -ct)
  else
    printf '%s\\n' $words
  end
end
complete -c echelon -f -a '(_echelon)'`;

/** The commands of this module by their names. */
export const commands = { completion: completionCommand };
