import type { Command } from 'commander';
import type { Experiment } from 'echelon-client/calls';
import { examples } from 'echelon-verify/cli/examples';
import { json, type Output } from 'echelon-verify/cli/output';
import { table } from 'echelon-verify/cli/table';
import { inert } from 'echelon-verify/text/inert';
import { canonicalJson, escapePointer } from '../../schemas/json.ts';
import { type ApiOptions, apiCommand, clientFor } from '../connection.ts';
import { experimentNamed, NAME_FORMS } from '../names.ts';
import { successRate } from '../states.ts';

/** A value that differs between two specs; undefined if a spec lacks it. */
interface Difference {
  pointer: string;
  a: unknown;
  b: unknown;
}

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

/** The values that differ between two specs, by JSON pointer; a list counts as one value. */
export function differencesOf(a: unknown, b: unknown, at = ''): Difference[] {
  if (!isTree(a) || !isTree(b)) return canonicalJson(a) === canonicalJson(b) ? [] : [{ pointer: at, a, b }];
  const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
  return keys.flatMap((key) => differencesOf(own(a, key), own(b, key), `${at}/${escapePointer(key)}`));
}

const own = (tree: Record<string, unknown>, key: string): unknown =>
  Object.hasOwn(tree, key) ? tree[key] : undefined;

function isTree(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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
  return inert(typeof value === 'string' ? value : (canonicalJson(value) ?? '-'));
}

/** The commands of this module by their names. */
export const commands = { diff: diffCommand };
