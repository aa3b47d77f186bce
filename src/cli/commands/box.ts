import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { examples } from 'command-kit/examples';
import { CliError, EXIT } from 'command-kit/exit';
import { json, type Output } from 'command-kit/output';
import { Command } from 'commander';
import { stringify } from 'yaml';
import { EchelonError } from '../../core/errors.ts';
import { specOfCommand } from '../../engines/registry.ts';
import { validateSpec } from '../../engines/validate-spec.ts';
import { segmentsOf } from '../../plan/pointer.ts';
import { resolveSpec } from '../../plan/resolve-spec.ts';
import { group } from '../group.ts';
import { type PythonCall, recordCalls } from '../local/box/run-script.ts';

/** What a script may take until it trains. */
const TIMEOUT_MS = 60_000;

/** Variables by which a script names data; a spec has no place for them. */
const DATA_VARIABLES = ['ALFWORLD_DATA', 'HF_HOME', 'WEBSHOP_DATA'];

interface InitOptions {
  script: string;
  python?: string;
  output: string;
  force?: boolean;
  json?: boolean;
}

/** `echelon box init`: a spec from the script by which the user trains today. */
function initCommand(output: Output): Command {
  return new Command('init')
    .description(
      'Write a spec that trains as a script of verl-agent does. The script is run by bash in this folder with stand-ins for python, ray, pip and conda, so that nothing is trained; its other commands are executed.',
    )
    .requiredOption('--script <file>', 'the script by which you train today')
    .argument('[arguments...]', 'arguments of the script')
    .option('--python <program>', 'Python of your trainer, for the next commands')
    .option('-o, --output <file>', 'file of the spec', 'spec.yaml')
    .option('--force', 'replace an existing file')
    .option('--json', 'print JSON')
    .addHelpText('after', examples('echelon box init --script run_alfworld.sh --python ENV/bin/python'))
    .action((words: string[], options: InitOptions) => init(words, options, output));
}

async function init(words: string[], options: InitOptions, output: Output): Promise<void> {
  const script = resolve(options.script);
  const file = resolve(options.output);
  if (!existsSync(script)) throw new CliError(EXIT.usage, `There is no script ${script}.`);
  if (existsSync(file) && options.force !== true)
    throw new CliError(EXIT.usage, `${file} exists. Name another with --output, or replace it with --force.`);
  const { call, found } = await trainingOf(script, words);
  const { spec, missing } = usable(found.spec, found.missing);
  await writeFile(file, `# Made from ${options.script}.\n${stringify(spec)}`);
  const next = nextLines(options, call);
  if (options.json) return output.line(json({ file, spec, missing, next }));
  output.line(
    `${options.script} trains with ${found.settings} settings; wrote ${options.output} (recipe ${found.recipe}).`,
  );
  if (missing.length > 0) output.line('\nNot in the spec:');
  for (const { key, text, why } of missing) output.line(`  ${key}=${text}\n      ${why}`);
  output.line(['\nNext:', ...next.map((line) => `  ${line}`)].join('\n'));
}

/** The last call of Python that starts a training. A {@link CliError} if there is none, or if no recipe can run it. */
async function trainingOf(script: string, words: string[]) {
  const { processEnvironment } = await import('../../main.ts');
  const { calls, said } = await recordCalls({
    script,
    arguments: words,
    folder: process.cwd(),
    environment: processEnvironment(),
    timeoutMs: TIMEOUT_MS,
  });
  try {
    for (const call of calls.reverse()) {
      const found = specOfCommand(call.words);
      if (found !== undefined) return { call, found };
    }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new CliError(EXIT.notOk, `The script cannot become a spec: ${error.message}.`);
  }
  const called =
    calls.length === 0 ? 'did not call `python` or `python3`' : 'started no training of verl-agent';
  throw new CliError(
    EXIT.notOk,
    `The script ${called}. Run this in the folder in which the script works. It said:\n${said.trimEnd()}`,
  );
}

/** The checkout that the script runs in: its working directory. */
function checkoutOf(environment: PythonCall['environment']): string | undefined {
  const folder = environment.PWD;
  return folder !== undefined && existsSync(join(folder, 'verl')) ? folder : undefined;
}

type Missing = { key: string; text: string; why: string }[];

/** The spec without the fields that it cannot have; they join what is missing. */
function usable(spec: object, missing: Missing): { spec: object; missing: Missing } {
  try {
    resolveSpec(validateSpec(spec), { customCode: false });
    return { spec, missing };
  } catch (error) {
    if (!(error instanceof EchelonError) || !error.problems?.length) throw error;
    const { field, message } = error.problems[0]!;
    const shorter = without(spec, segmentsOf(field));
    if (shorter === undefined) throw error;
    return usable(shorter.rest, [...missing, { key: field, text: String(shorter.value), why: message }]);
  }
}

/** A copy of a tree without the value at a path; undefined if there is none, or if the whole depends on it. */
function without(tree: object, path: readonly string[]): { rest: object; value: unknown } | undefined {
  const rest = structuredClone(tree) as Record<string, unknown>;
  const last = path.at(-1);
  let at: Record<string, unknown> = rest;
  for (const key of path.slice(0, -1)) at = (at[key] ?? {}) as Record<string, unknown>;
  if (last === undefined || path.length < 2 || !Object.hasOwn(at, last)) return undefined;
  const value = at[last];
  delete at[last];
  return { rest, value };
}

function nextLines({ python, output }: InitOptions, { environment }: PythonCall): string[] {
  const home = checkoutOf(environment);
  const set = DATA_VARIABLES.filter((name) => environment[name]).map((name) => [name, environment[name]]);
  const data = [...(home === undefined ? [] : [['VERL_AGENT_HOME', home]]), ...set].map(
    ([name, value]) => `--env ${name}=${value}`,
  );
  const given = python === undefined ? '' : ` --python ${python}`;
  return [
    `echelon doctor --box${given}`,
    `echelon up --detach${given}`,
    ...(data.length > 0 ? [`echelon clusters update local ${data.join(' ')}`] : []),
    `echelon preflight ${output}`,
    `echelon submit ${output} --watch`,
  ];
}

/** The commands of this module by their names. */
export const commands = {
  box: group({ name: 'box', description: 'Make a spec from a script of verl-agent' }, [initCommand]),
};
