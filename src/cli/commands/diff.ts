import { examples } from 'command-kit/examples';
import { inert, inertText } from 'command-kit/inert';
import { json, type Output } from 'command-kit/output';
import { table } from 'command-kit/table';
import type { Command } from 'commander';
import type { Experiment } from 'echelon-client/calls';
import { differencesOf } from '../../plan/differences.ts';
import { canonicalJson } from '../../schemas/json.ts';
import { type ApiOptions, apiCommand, clientFor } from '../connection.ts';
import { experimentNamed, NAME_FORMS } from '../names.ts';
import { successRate } from '../states.ts';

/** `echelon diff A B`: the differences of two specs, and the results of both experiments. */
function diffCommand(output: Output): Command {
  return apiCommand('diff')
    .description(
      'Compare two experiments: the values that differ in their specs, with defaults, and the results.',
    )
    .argument('<a>', `experiment: ${NAME_FORMS}`)
    .argument('<b>', 'the other experiment')
    .addHelpText('after', examples('echelon diff exp-00cz8h3k7n2q4r5s6t7v @last'))
    .action(async (first: string, second: string, options: ApiOptions) => {
      const client = await clientFor(options);
      const [a, b] = await Promise.all(
        [first, second].map(async (name) =>
          client.get('/v1/experiments/{id}', { path: { id: await experimentNamed(client, name) } }),
        ),
      );
      const differences = differencesOf(a!.resolved, b!.resolved);
      const results = [resultsOf(a!), resultsOf(b!)] as const;
      if (options.json) return output.line(json({ differences, a: results[0], b: results[1] }));
      if (differences.length === 0) output.line('The specs are equal.');
      else
        output.line(
          table(
            ['SPEC', inert(a!.id), inert(b!.id)],
            differences.map(({ pointer, a, b }) => [inert(pointer), inText(a), inText(b)]),
            output.columns,
          ),
        );
      const rows = Object.entries(results[0]).map(([name, value]) => [
        name,
        inText(value),
        inText(results[1][name as keyof Results]),
      ]);
      output.line(`\n${table(['RESULT', '', ''], rows, output.columns)}`);
    });
}

type Results = ReturnType<typeof resultsOf>;

function resultsOf(experiment: Pick<Experiment, 'id' | 'state' | 'progress' | 'verification'>) {
  const { id, state, progress, verification } = experiment;
  const { rowsVerified, wrong } = verification;
  const { step: steps } = progress;
  return { id, state, steps, success: successRate(experiment), rowsVerified, wrong };
}

function inText(value: unknown): string {
  if (value === undefined) return '-';
  return inertText(typeof value === 'string' ? value : (canonicalJson(value) ?? '-'));
}

/** The commands of this module by their names. */
export const commands = { diff: diffCommand };
