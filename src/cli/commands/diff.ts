import type { Command } from 'commander';
import type { Experiment } from '../../schemas/experiment.ts';
import { canonicalJson, escapePointer } from '../../schemas/json.ts';
import { apiCommand, type ConnectionOptions, clientFor } from '../connection.ts';
import { experimentNamed, NAMES_IT } from '../names.ts';
import { inert, json, type Output, successRate, table } from '../output.ts';

type Options = ConnectionOptions & { json?: boolean };

/** A value that two experiments do not share; undefined where one has none. */
interface Difference {
  pointer: string;
  a: unknown;
  b: unknown;
}

/** `echelon diff A B`: what two experiments were told differently, and what came of each. */
export function diffCommand(output: Output): Command {
  return apiCommand('diff')
    .summary('show in what two experiments differ, and what came of each')
    .description(
      'show in which values the specs of two experiments differ, defaults included, and what came of each',
    )
    .argument('<a>', NAMES_IT)
    .argument('<b>', 'another one')
    .addHelpText('after', '\nExample:\n  echelon diff exp-00cz8h3k7n2q4r5s6t7v @last')
    .action(async (first: string, second: string, options: Options) => {
      const client = await clientFor(options);
      const [a, b] = await Promise.all(
        [first, second].map(async (name) =>
          client.get<Experiment>(
            `/v1/experiments/${encodeURIComponent(await experimentNamed(client, name))}`,
          ),
        ),
      );
      const differences = differencesOf(a!.resolved, b!.resolved);
      const results = [resultsOf(a!), resultsOf(b!)] as const;
      if (options.json) return output.line(json({ differences, a: results[0], b: results[1] }));
      if (differences.length === 0) output.line('Their specs are the same.');
      else
        output.line(
          table(
            ['SPEC', inert(a!.id), inert(b!.id)],
            differences.map(({ pointer, a, b }) => [inert(pointer), shown(a), shown(b)]),
          ),
        );
      const rows = Object.entries(results[0]).map(([name, value]) => [
        name,
        shown(value),
        shown(results[1][name as keyof Results]),
      ]);
      output.line(`\n${table(['RESULT', '', ''], rows)}`);
    });
}

/** The values in which two specs differ, by JSON pointer; a list counts as one value. */
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

function resultsOf(experiment: Experiment) {
  const { id, state, progress, verification } = experiment;
  const { rowsVerified, wrong } = verification;
  const { step: steps } = progress;
  return { id, state, steps, success: successRate(experiment), rowsVerified, wrong };
}

function shown(value: unknown): string {
  if (value === undefined) return '-';
  return inert(typeof value === 'string' ? value : (canonicalJson(value) ?? '-'));
}
