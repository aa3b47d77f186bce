import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { Command } from 'commander';
import { type ConfigFile, LOCAL_CONTEXT, readConfig, writeConfig } from '../config-file.ts';
import { configOption } from '../connection.ts';
import { CliError, EXIT } from '../exit.ts';
import { json, type Output, table } from '../output.ts';

interface Options {
  config: string;
}

/** `echelon config`: the APIs that the command line knows by name. */
export function configCommand(output: Output): Command {
  return new Command('config')
    .description('APIs by name: list them, add one, say which one is talked to')
    .addHelpText(
      'after',
      `
What holds, the first of: --url and --token; --context; ECHELON_URL and ECHELON_TOKEN; ECHELON_CONTEXT; the file's
current context; the private stack that runs here (its name is ${LOCAL_CONTEXT}).

Examples:
  echelon config set lab --url https://echelon.example.org --token-file ~/.config/echelon/lab.token
  echelon config use lab
  echelon ls --context ${LOCAL_CONTEXT}`,
    )
    .addCommand(list(output), { isDefault: true })
    .addCommand(set(output))
    .addCommand(use(output))
    .addCommand(remove(output));
}

function list(output: Output): Command {
  return new Command('ls')
    .description('list the contexts, and the file that holds them')
    .addOption(configOption())
    .option('--json', 'print JSON, for scripts; without tokens')
    .addHelpText('after', '\nExample:\n  echelon config ls')
    .action(async ({ config: file, json: asJson }: Options & { json?: boolean }) => {
      const { current = LOCAL_CONTEXT, contexts = {} } = await readConfig(file);
      const shown = Object.entries(contexts).map(([name, { url, tokenFile, token }]) => ({
        ...{ name, url, current: name === current },
        token: tokenFile ?? (token === undefined ? null : 'in the file'),
      }));
      if (asJson) return output.line(json({ file, current, contexts: shown }));
      const rows = shown.map((one) => [one.current ? '*' : '', one.name, one.url, one.token ?? '-']);
      const local = [current === LOCAL_CONTEXT ? '*' : '', LOCAL_CONTEXT, 'the stack that runs here', '-'];
      output.line(table(['', 'CONTEXT', 'URL', 'TOKEN'], [local, ...rows]));
      output.remark(`From ${file}`);
    });
}

function set(output: Output): Command {
  return new Command('set')
    .description('add a context, or replace one')
    .argument('<name>')
    .requiredOption('--url <url>', 'address of the API')
    .option('--token-file <file>', 'a file that holds the token, which nobody else may read')
    .option('--token-stdin', 'read the token from standard input and keep it in the configuration')
    .addOption(configOption())
    .addHelpText(
      'after',
      '\nExample:\n  echelon config set lab --url https://echelon.example.org --token-file ~/.config/echelon/lab.token',
    )
    .action(
      async (
        name: string,
        {
          config: file,
          url,
          tokenFile,
          tokenStdin,
        }: Options & {
          url: string;
          tokenFile?: string;
          tokenStdin?: boolean;
        },
      ) => {
        if (name === LOCAL_CONTEXT)
          throw new CliError(
            EXIT.usage,
            `${LOCAL_CONTEXT} is the stack that runs here; choose another name.`,
          );
        if (!URL.canParse(url) || !/^https?:/.test(url))
          throw new CliError(EXIT.usage, `--url must begin with http:// or https://, not ${url}`);
        const token = tokenStdin ? (await text(process.stdin)).trim() : undefined;
        const context = { url, ...(tokenFile && { tokenFile: lasting(tokenFile) }), ...(token && { token }) };
        const config = await readConfig(file);
        await writeConfig(file, { ...config, contexts: { ...config.contexts, [name]: context } });
        output.remark(
          `${name} is ${url}; \`echelon config use ${name}\` makes it the one that is talked to.`,
        );
      },
    );
}

/** A path that means the same wherever a command is run; `~/` stays what it is. */
const lasting = (file: string): string => (file.startsWith('~/') ? file : resolve(file));

function use(output: Output): Command {
  return new Command('use')
    .description(`talk to this context from now on (${LOCAL_CONTEXT}: the stack that runs here)`)
    .argument('<name>')
    .addOption(configOption())
    .addHelpText('after', '\nExample:\n  echelon config use lab')
    .action(async (name: string, { config: file }: Options) => {
      const config = await readConfig(file);
      requireContext(config, name, file);
      await writeConfig(file, { ...config, current: name });
      output.remark(`Commands talk to ${name} from now on.`);
    });
}

function remove(output: Output): Command {
  return new Command('rm')
    .description('forget a context')
    .argument('<name>')
    .addOption(configOption())
    .addHelpText('after', '\nExample:\n  echelon config rm lab')
    .action(async (name: string, { config: file }: Options) => {
      const config = await readConfig(file);
      requireContext(config, name, file);
      const { [name]: _gone, ...contexts } = config.contexts ?? {};
      const { current, ...rest } = config;
      await writeConfig(file, { ...rest, ...(current && current !== name && { current }), contexts });
      output.remark(`${name} is forgotten.`);
    });
}

function requireContext({ contexts = {} }: ConfigFile, name: string, file: string): void {
  if (name === LOCAL_CONTEXT || Object.hasOwn(contexts, name)) return;
  const names = [LOCAL_CONTEXT, ...Object.keys(contexts)].join(', ');
  throw new CliError(
    EXIT.usage,
    `There is no context ${JSON.stringify(name)} in ${file}; there are ${names}.`,
  );
}
