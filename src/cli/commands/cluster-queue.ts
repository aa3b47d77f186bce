import type { Command } from 'commander';
import { examples } from 'echelon-verify/cli/examples';
import { json, type Output } from 'echelon-verify/cli/output';
import { inert } from 'echelon-verify/text/inert';
import { apiCommand, type ConnectionOptions, clientFor } from '../connection.ts';

type Options = ConnectionOptions & { json?: boolean; reason?: string };

/** The commands that control whether experiments start on a cluster: `clusters pause` and `resume`. */
export function clusterQueueCommands(output: Output): Command[] {
  return [pause(output), resume(output)];
}

function pause(output: Output): Command {
  return apiCommand('pause')
    .description('Start no new experiment on a cluster. Running experiments continue.')
    .argument('<name>', 'name of the cluster')
    .option('--reason <text>', 'reason that users with queued experiments see')
    .addHelpText('after', examples('echelon clusters pause fleet --reason "driver upgrade"'))
    .action(async (name: string, options: Options) => {
      const client = await clientFor(options);
      const body = options.reason === undefined ? {} : { reason: options.reason };
      const cluster = await client.post('/v1/clusters/{name}/pause', { path: { name }, body });
      output.line(options.json ? json(cluster) : `${inert(cluster.name)} is paused`);
    });
}

function resume(output: Output): Command {
  return apiCommand('resume')
    .description('End the pause or the drain of a cluster.')
    .argument('<name>', 'name of the cluster')
    .addHelpText('after', examples('echelon clusters resume fleet'))
    .action(async (name: string, options: Options) => {
      const client = await clientFor(options);
      const cluster = await client.post('/v1/clusters/{name}/resume', { path: { name } });
      output.line(options.json ? json(cluster) : `${inert(cluster.name)} accepts experiments`);
    });
}
