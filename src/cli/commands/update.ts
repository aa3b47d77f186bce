import { partsOf, wholeNumber } from 'command-kit/arguments';
import { examples } from 'command-kit/examples';
import { CliError, EXIT } from 'command-kit/exit';
import { inert } from 'command-kit/inert';
import { json, type Output } from 'command-kit/output';
import { wrapped } from 'command-kit/width';
import type { Command } from 'commander';
import { type ApiOptions, apiCommand, clientFor } from '../connection.ts';
import { experimentNamed, NAME_FORMS } from '../names.ts';
import { stated } from '../row.ts';
import { whatIfText } from '../what-if.ts';

interface Options extends ApiOptions {
  priority?: number;
  note?: string;
  tags?: string;
  dryRun?: boolean;
}

/** `echelon update`: the fields of an experiment that may change after its submission. */
function updateCommand(output: Output): Command {
  return apiCommand('update')
    .description(
      'Change the priority of a queued experiment, or the note or the tags of any. `echelon ls --search` finds notes and tags.',
    )
    .argument('<id>', `experiment: ${NAME_FORMS}`)
    .option('--priority <number>', 'priority from -100 to 100; higher starts first', wholeNumber(-100, 100))
    .option('--note <text>', 'note; an empty text removes it')
    .option('--tags <tags>', 'tags, separated by commas; an empty text removes them')
    .option(
      '--dry-run',
      'with --priority: show when it would start, and which experiments would start later; change nothing',
    )
    .addHelpText(
      'after',
      examples(
        'echelon update exp-00cz8h3k7n2q4r5s6t7v --priority 10',
        'echelon update exp-00cz8h3k7n2q4r5s6t7v --priority -5 --dry-run',
        'echelon update @last --note "diverged at step 40" --tags baseline,bad-seed',
      ),
    )
    .action((name: string, options: Options) => update(name, options, output));
}

async function update(
  name: string,
  { priority, note, tags, ...options }: Options,
  output: Output,
): Promise<void> {
  const list = tags === undefined ? undefined : partsOf(tags).filter((tag) => tag !== '');
  const body = stated({ priority, note, tags: list });
  if (Object.keys(body).length === 0)
    throw new CliError(EXIT.usage, 'Give --priority, --note or --tags; `echelon get ID` shows all three.');
  if (options.dryRun && priority === undefined) throw new CliError(EXIT.usage, '--dry-run needs --priority.');
  const client = await clientFor(options);
  const path = { id: await experimentNamed(client, name) };
  if (options.dryRun) {
    const found = await client.post('/v1/queues/what-if', {
      body: { experiment: path.id, priority: priority! },
    });
    const { columns } = output;
    return output.line(
      options.json ? json(found) : wrapped(whatIfText(found, client.now(), columns), columns),
    );
  }
  const changed = await client.patch('/v1/experiments/{id}', { path, body });
  if (options.json) return output.line(json(changed));
  const { id, position } = changed;
  const place = position === null ? '' : `, at position ${position.rank} of ${position.length}`;
  if (priority !== undefined) output.line(`${id} has priority ${changed.priority}${place}`);
  if (note === undefined && tags === undefined) return;
  const written = [changed.note, ...changed.tags].filter(Boolean).join(', ');
  output.line(inert(`${id}: ${written || 'no note, no tags'}`));
}

/** The commands of this module by their names. */
export const commands = { update: updateCommand };
