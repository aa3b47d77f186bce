import type { Command } from 'commander';
import type { ExperimentSpec, WhatIf } from 'echelon-client/calls';
import { shortNode } from 'echelon-client/short-node';
import { examples } from 'echelon-verify/cli/examples';
import { json, type Output } from 'echelon-verify/cli/output';
import { table } from 'echelon-verify/cli/table';
import { inert } from 'echelon-verify/text/inert';
import { counted } from 'echelon-verify/text/plural';
import { apiCommand, type ConnectionOptions, clientFor } from '../connection.ts';
import { readSpec } from '../folder-files.ts';
import { changedSpec, type SpecChanges, withSpecChanges } from '../spec-changes.ts';
import { requireKind } from '../spec-file.ts';
import { startsIn } from '../starts-in.ts';
import { duration } from '../states.ts';

type Options = ConnectionOptions & SpecChanges & { json?: boolean };

/** `echelon queues what-if FILE`: when a spec would start, and whom it would delay. */
export function whatIfCommand(output: Output): Command {
  return withSpecChanges(apiCommand('what-if'))
    .description('Show when a spec would start if submitted now, and which experiments it would delay')
    .argument('<file>', 'file with the spec, YAML or JSON; - is standard input')
    .addHelpText(
      'after',
      examples(
        'echelon queues what-if deploy/examples/hgpo.yaml',
        'echelon queues what-if deploy/examples/hgpo.yaml --priority 5',
      ),
    )
    .action(async (file: string, options: Options) => {
      const [client, given] = [await clientFor(options), await readSpec(file)];
      requireKind(file, given, 'experiment');
      // The API validates it.
      const spec = changedSpec(given, options) as ExperimentSpec;
      const found = await client.post('/v1/queues/what-if', { body: { spec } });
      output.line(options.json ? json(found) : whatIfText(found, Date.now()));
    });
}

/** The answer in words. `now`: ms since 1970. */
export function whatIfText({ before, after, later, earlier, shifts }: WhatIf, now: number): string {
  const lines = [`Would start ${startOf(after, now)}.`];
  if (before !== null) lines.push(`Without the change: ${startOf(before, now)}.`);
  if (after.waitReason !== null) lines.push(inert(after.waitReason));
  lines.push('', `${counted(later, 'queued experiment')} would start later, ${earlier} earlier.`);
  const rows = shifts.map(({ experiment, name, project, from, to }) => [
    ...[experiment, inert(name), inert(project), duration(from.startAt - now)],
    to === null ? '?' : duration(to.startAt - now),
  ]);
  if (rows.length > 0) lines.push(table(['ID', 'NAME', 'PROJECT', 'STARTS IN', 'WOULD START IN'], rows));
  return lines.join('\n');
}

function startOf({ startsNow, position, estimate, noEstimate, place }: WhatIf['after'], now: number): string {
  if (startsNow) return 'now';
  const rank = position === null ? '' : `, at position ${position}`;
  if (estimate === null) return `at an unknown time${rank}: ${inert(noEstimate ?? '')}`;
  const where = place === null ? '' : `, on ${place.cluster} ${place.nodes.map(shortNode).join(', ')}`;
  return `in ${startsIn(estimate, now)}${rank}${where}`;
}
