import { examples } from 'command-kit/examples';
import type { Output } from 'command-kit/output';
import { Command } from 'commander';
import { group } from '../group.ts';
import type { RayTarget } from '../ray-commands.ts';

interface Options {
  rayToken?: string;
  namespace?: string;
  json?: boolean;
}

/** gRPC takes long to load, so only these commands import it. */
const load = () => import('../ray-commands.ts');

function rayCommandOf(name: string): Command {
  return new Command(name)
    .argument('<address>', "ray://HOST:PORT of Ray's client server; its default port is 10001")
    .option('--ray-token <token>', "Ray's token (default: from the environment)")
    .option('--json', 'print JSON');
}

async function target(output: Output, address: string, options: Options): Promise<RayTarget> {
  const { processEnvironment } = await import('../../main.ts');
  const { rayToken: token, ...rest } = options;
  return {
    address,
    output,
    environment: processEnvironment(),
    ...rest,
    ...(token !== undefined && { token }),
  };
}

function status(output: Output): Command {
  return rayCommandOf('status')
    .description('Show versions, nodes, and free and total resources.')
    .addHelpText('after', examples('echelon ray status ray://127.0.0.1:10001'))
    .action(async (address: string, options: Options) =>
      (await load()).rayStatus(await target(output, address, options)),
    );
}

function call(output: Output): Command {
  return rayCommandOf('call')
    .description('Call a Python function of the cluster and print its result.')
    .argument('<module:function>', 'the function, such as posixpath:join')
    .option('--args <json>', 'arguments of the function, as a JSON array', '[]')
    .addHelpText(
      'after',
      examples(`echelon ray call ray://127.0.0.1:10001 posixpath:join --args '["a", "b"]'`),
    )
    .action(async (address: string, reference: string, { args, ...options }: Options & { args: string }) =>
      (await load()).rayCall({ ...(await target(output, address, options)), reference, args }),
    );
}

function actors(output: Output): Command {
  return rayCommandOf('actors')
    .description('List named actors of all namespaces, or of one.')
    .option('--namespace <name>', 'only this namespace')
    .addHelpText('after', examples('echelon ray actors ray://127.0.0.1:10001 --json'))
    .action(async (address: string, options: Options) =>
      (await load()).rayActors(await target(output, address, options)),
    );
}

function kill(output: Output): Command {
  return rayCommandOf('kill')
    .description('Kill a named actor, detached or not, without a restart.')
    .argument('<name>', 'name of the actor')
    .option('--namespace <name>', 'namespace of the actor; needed only if several have the name')
    .addHelpText(
      'after',
      examples('echelon ray kill ray://127.0.0.1:10001 echelon-ray-worker --namespace echelon'),
    )
    .action(async (address: string, name: string, options: Options) =>
      (await load()).rayKill({ ...(await target(output, address, options)), name }),
    );
}

/** `echelon ray`: small commands on any Ray cluster, over Ray's client protocol; the cluster needs no software of Echelon. */
export const commands = {
  ray: group(
    {
      name: 'ray',
      description:
        'Inspect any Ray cluster and call functions on it. Token and TLS keys come from the variables of Ray: RAY_AUTH_TOKEN, RAY_AUTH_TOKEN_PATH, RAY_USE_TLS, RAY_TLS_CA_CERT and others.',
    },
    [status, call, actors, kill],
  ),
};
