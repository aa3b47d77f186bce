import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { examples } from 'command-kit/examples';
import { CliError, EXIT } from 'command-kit/exit';
import { json, type Output } from 'command-kit/output';
import { table } from 'command-kit/table';
import { Command } from 'commander';
import { LOCAL_CONTEXT, readConfig, writeConfig } from '../config-file.ts';
import type { ConfigFile } from '../config-schema.ts';
import { configOption } from '../connection.ts';
import { group } from '../group.ts';

interface Options {
  config: string;
}

function list(output: Output): Command {
  return new Command('ls')
    .description('List the contexts and their file.')
    .addOption(configOption())
    .option('--json', 'print JSON, without tokens')
    .addHelpText('after', examples('echelon config ls'))
    .action(async ({ config: file, json: asJson }: Options & { json?: boolean }) => {
      const { current = LOCAL_CONTEXT, contexts = {} } = await readConfig(file);
      const shown = Object.entries(contexts).map(([name, { url, tokenFile, token }]) => ({
        name,
        url,
        current: name === current,
        token: tokenFile ?? (token === undefined ? null : 'in this file'),
      }));
      if (asJson) return output.line(json({ file, current, contexts: shown }));
      const rows = shown.map((one) => [one.current ? '*' : '', one.name, one.url, one.token ?? '-']);
      const local = [current === LOCAL_CONTEXT ? '*' : '', LOCAL_CONTEXT, 'the local `echelon up`', '-'];
      output.line(table(['', 'CONTEXT', 'URL', 'TOKEN'], [local, ...rows], output.columns));
      output.remark(`File: ${file}`);
    });
}

interface SetOptions extends Options {
  url: string;
  tokenFile?: string;
  tokenStdin?: boolean;
}

function set(output: Output): Command {
  return new Command('set')
    .description('Add a context, or replace it.')
    .argument('<name>', 'name of the context')
    .requiredOption('--url <url>', 'address of the API')
    .option('--token-file <file>', 'file that holds the token, readable only by you')
    .option('--token-stdin', 'read the token from standard input, and store it in the configuration file')
    .addOption(configOption())
    .addHelpText(
      'after',
      examples(
        'echelon config set lab --url https://echelon.example.org --token-file ~/.config/echelon/lab.token',
      ),
    )
    .action(async (name: string, { config: file, url, tokenFile, tokenStdin }: SetOptions) => {
      if (name === LOCAL_CONTEXT)
        throw new CliError(
          EXIT.usage,
          `The name ${LOCAL_CONTEXT} is reserved for the local \`echelon up\`. Choose another name.`,
        );
      if (!URL.canParse(url) || !/^https?:/.test(url))
        throw new CliError(
          EXIT.usage,
          `--url ${JSON.stringify(url)} is not an address of an API. Give one that begins with http:// or https://.`,
        );
      const token = tokenStdin ? (await text(process.stdin)).trim() : undefined;
      const context = { url, ...(tokenFile && { tokenFile: portable(tokenFile) }), ...(token && { token }) };
      const config = await readConfig(file);
      await writeConfig(file, { ...config, contexts: { ...config.contexts, [name]: context } });
      output.remark(
        `Context ${name} is ${url}. Make it the current one with \`echelon config use ${name}\`.`,
      );
    });
}

/** A path that means the same in every directory; `~/` is kept. */
const portable = (file: string): string => (file.startsWith('~/') ? file : resolve(file));

function use(output: Output): Command {
  return new Command('use')
    .description('Make a context the current one.')
    .argument('<name>', `name of the context; ${LOCAL_CONTEXT} is the local \`echelon up\``)
    .addOption(configOption())
    .addHelpText('after', examples('echelon config use lab'))
    .action(async (name: string, { config: file }: Options) => {
      const config = await readConfig(file);
      requireContext(config, name, file);
      await writeConfig(file, { ...config, current: name });
      output.remark(`The current context is ${name}.`);
    });
}

function remove(output: Output): Command {
  return new Command('delete')
    .description('Delete a context.')
    .argument('<name>', 'name of the context')
    .addOption(configOption())
    .addHelpText('after', examples('echelon config delete lab'))
    .action(async (name: string, { config: file }: Options) => {
      const config = await readConfig(file);
      requireContext(config, name, file);
      const { [name]: _deleted, ...contexts } = config.contexts ?? {};
      const { current, ...rest } = config;
      await writeConfig(file, { ...rest, ...(current && current !== name && { current }), contexts });
      output.remark(`Context ${name} deleted.`);
    });
}

function requireContext({ contexts = {} }: ConfigFile, name: string, file: string): void {
  if (name === LOCAL_CONTEXT || Object.hasOwn(contexts, name)) return;
  const names = [LOCAL_CONTEXT, ...Object.keys(contexts)].join(', ');
  throw new CliError(
    EXIT.usage,
    `There is no context ${JSON.stringify(name)} in ${file}. The contexts are ${names}.`,
  );
}

/** `echelon config`: the contexts, which are APIs by name. */
export const commands = {
  config: group(
    {
      name: 'config',
      description: `Manage contexts: APIs by name. Without a command, list them. A command uses, in this order: --url and --token; --context; ECHELON_URL and ECHELON_TOKEN; ECHELON_CONTEXT; the current context; the local \`echelon up\`, whose context is ${LOCAL_CONTEXT}.`,
    },
    [list, set, use, remove],
  ),
};
