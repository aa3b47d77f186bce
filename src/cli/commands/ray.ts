import { Command } from 'commander';
import type { Output } from '../output.ts';
import type { RayTarget } from '../ray-commands.ts';

interface Options {
  rayToken?: string;
  namespace?: string;
  json?: boolean;
}

/** gRPC takes a good part of a second to load; other commands do without. */
const commands = () => import('../ray-commands.ts');

/** `echelon ray`: small commands on any Ray cluster, over its own client protocol; nothing of ours is needed there. */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: it lists the commands, their options and their help
export function rayCommand(output: Output): Command {
  const target = async (address: string, options: Options): Promise<RayTarget> => {
    const { processEnvironment } = await import('../../main.ts');
    const { rayToken: token, ...rest } = options;
    return {
      address,
      output,
      environment: processEnvironment(),
      ...rest,
      ...(token !== undefined && { token }),
    };
  };
  const status = on('status', 'versions, nodes, and what is free of what there is')
    .addHelpText('after', '\nExample:\n  echelon ray status ray://127.0.0.1:10001')
    .action(async (address: string, options: Options) =>
      (await commands()).rayStatus(await target(address, options)),
    );
  const call = on('call', 'call a Python function of the cluster and print what it returns')
    .argument('<module:function>')
    .option('--args <json>', 'its arguments, as a JSON array', '[]')
    .addHelpText(
      'after',
      '\nExample:\n  echelon ray call ray://127.0.0.1:10001 posixpath:join --args \'["a", "b"]\'',
    )
    .action(async (address: string, reference: string, { args, ...options }: Options & { args: string }) =>
      (await commands()).rayCall({ ...(await target(address, options)), reference, args }),
    );
  const actors = on('actors', 'named actors, of all namespaces or of one')
    .option('--namespace <name>', 'only of this namespace')
    .addHelpText('after', '\nExample:\n  echelon ray actors ray://127.0.0.1:10001 --json')
    .action(async (address: string, options: Options) =>
      (await commands()).rayActors(await target(address, options)),
    );
  const kill = on('kill', 'end a named actor, detached or not, without a restart')
    .argument('<name>')
    .option('--namespace <name>', 'where it is, if the name is in several')
    .addHelpText(
      'after',
      '\nExample:\n  echelon ray kill ray://127.0.0.1:10001 echelon-ray-worker --namespace echelon',
    )
    .action(async (address: string, name: string, options: Options) =>
      (await commands()).rayKill({ ...(await target(address, options)), name }),
    );

  const command = new Command('ray').description('look at any Ray cluster, and call functions on it');
  for (const sub of [status, call, actors, kill]) command.addCommand(sub);
  return command.addHelpText(
    'after',
    '\nToken and keys are taken from the variables that Ray uses: RAY_AUTH_TOKEN, RAY_AUTH_TOKEN_PATH, RAY_USE_TLS,\nRAY_TLS_CA_CERT, …',
  );
}

function on(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .argument('<address>', 'ray://host:port of the client server (its default port is 10001)')
    .option('--ray-token <token>', "Ray's token, instead of the one of the environment")
    .option('--json', 'print JSON, for scripts');
}
