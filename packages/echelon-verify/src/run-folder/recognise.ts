/** Which trainer wrote a folder, and in which version: from the configuration that it left there, else from the format of its dumps. */

import { readdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { present } from '../base/present.ts';
import type { DumpAdapter } from '../dumps/adapter.ts';
import { readSmall, readYaml, type Settings, settingsOf } from '../dumps/config-yaml.ts';
import type { StepAdapter } from '../dumps/steps/adapter.ts';
import { readTypedArguments } from '../dumps/training-args.ts';
import { type FoundTrainer, type HydraStart, isTrainer, TRAINERS, type TrainerName } from './trainers.ts';
import type { FolderContents, MarkKind } from './walk.ts';

/** The trainers of a folder, each once a run, those with a configuration first. */
export async function trainersOf(
  contents: FolderContents,
  root: string,
  readers: readonly (DumpAdapter | StepAdapter | 'native')[],
): Promise<FoundTrainer[]> {
  const { marks } = contents;
  const found: FoundTrainer[] = [];
  for (const [kind, read] of READERS)
    for (const path of marks.get(kind) ?? []) {
      const one = await read(path);
      if (one !== undefined && !found.some(({ name, run }) => name === one.name && run === one.run))
        found.push(one);
    }
  for (const reader of readers) {
    const name = trainerOf(reader);
    const isKnown =
      name === undefined || found.some((one) => one.name === name || TRAINERS[one.name].writesAs === name);
    if (!isKnown) found.push({ name, by: `the files of ${root}`, run: root, settings: {} });
  }
  const packages = await packagesOf(marks.get('wandb') ?? []);
  return await Promise.all(found.map((one) => withVersion(one, packages)));
}

function trainerOf(reader: DumpAdapter | StepAdapter | 'native'): TrainerName | undefined {
  const name = reader === 'native' ? reader : reader.name.replace(/-(?:steps|tokens)$/, '');
  return isTrainer(name) ? name : undefined;
}

type Read = (path: string) => Promise<FoundTrainer | undefined>;

const READERS: readonly (readonly [MarkKind, Read])[] = [
  ['arguments', fromArguments],
  ['args-json', fromArgsJson],
  ['hydra', fromHydra],
  ['config-yaml', fromConfigYaml],
  ['prime-rl', fromPrimeRl],
];

async function fromArguments(path: string): Promise<FoundTrainer | undefined> {
  const read = await readTypedArguments(path);
  if (read === undefined) return undefined;
  const { type, settings } = read;
  const folder = dirname(path);
  const run = /^checkpoint-\d+$/.test(basename(folder)) ? dirname(folder) : folder;
  const name = /unsloth/i.test(type) ? 'unsloth' : type.startsWith('swift.') ? 'ms-swift' : 'trl';
  const isOfGroups = 'num_generations' in settings;
  return isOfGroups ? { name, by: path, run, settings, type } : undefined;
}

async function fromArgsJson(path: string): Promise<FoundTrainer | undefined> {
  const bytes = await readSmall(path);
  const settings = bytes && settingsOf(jsonOf(Buffer.from(bytes).toString('utf8')));
  if (settings === undefined) return undefined;
  const name =
    'n_samples_per_prompt' in settings ? 'slime' : 'num_generations' in settings ? 'ms-swift' : undefined;
  return name && { name, by: path, run: dirname(path), settings };
}

async function fromHydra(path: string): Promise<FoundTrainer | undefined> {
  const file = join(path, 'config.yaml');
  const settings = settingsOf(await readYaml(file));
  const name = settings && sectionsTell(settings);
  return name && { name, by: file, run: dirname(path), settings, start: await startOf(path) };
}

async function fromConfigYaml(path: string): Promise<FoundTrainer | undefined> {
  const read = settingsOf(await readYaml(path));
  if (read === undefined) return undefined;
  const settings = plainValues(read);
  const name = sectionsTell(settings);
  return name && { name, by: path, run: dirname(path), settings };
}

/** W&B has each setting as the `value` of an object. */
function plainValues(settings: Settings): Settings {
  if (settingsOf(settings._wandb) === undefined && settings.wandb_version === undefined) return settings;
  const pairs = Object.entries(settings).map(([key, value]) => [key, settingsOf(value)?.value ?? value]);
  return Object.fromEntries(pairs) as Settings;
}

async function fromPrimeRl(path: string): Promise<FoundTrainer | undefined> {
  const folder = dirname(path);
  const run = basename(folder) === 'configs' ? dirname(folder) : folder;
  return { name: 'prime-rl', by: path, run, settings: {} };
}

/** The trainer whose configuration has these sections. */
function sectionsTell(settings: Settings): TrainerName | undefined {
  const has = (...names: string[]) => names.every((name) => name in settings);
  if (has('actor_rollout_ref')) {
    const env = settingsOf(settings.env);
    if (has('rllm')) return 'rllm';
    return env !== undefined && 'env_name' in env && 'rollout' in env ? 'verl-agent' : 'verl';
  }
  if (has('grpo', 'policy')) return 'nemo-rl';
  if (has('actor_train', 'actor_infer')) return 'roll';
  if (has('generator', 'trainer', 'environment')) return 'skyrl';
  if (has('n_samples_per_prompt')) return 'slime';
  return has('num_generations', 'output_dir') ? 'trl' : undefined;
}

/** What `.hydra` says of the command. */
async function startOf(hydra: string): Promise<HydraStart> {
  const [file, listed] = await Promise.all([
    readYaml(join(hydra, 'hydra.yaml')),
    readYaml(join(hydra, 'overrides.yaml')),
  ]);
  const own = settingsOf(settingsOf(file)?.hydra);
  const runtime = settingsOf(own?.runtime);
  const overrides = Array.isArray(listed) ? listed.filter((one) => typeof one === 'string') : [];
  return {
    ...present({
      folder: typeof runtime?.cwd === 'string' ? runtime.cwd : undefined,
      module: moduleOf(mainFolderOf(runtime), settingsOf(own?.job)?.name),
    }),
    overrides,
  };
}

/** The folder of the configurations of the program. */
function mainFolderOf(runtime: Settings | undefined): string | undefined {
  const sources = Array.isArray(runtime?.config_sources) ? runtime.config_sources.map(settingsOf) : [];
  const path = sources.find((one) => one?.provider === 'main')?.path;
  return typeof path === 'string' ? path : undefined;
}

/** The module of a program: its configurations lie in a folder beside it. */
function moduleOf(configs: string | undefined, job: unknown): string | undefined {
  const parts = (configs === undefined ? '' : dirname(configs)).split('/');
  const at = Math.max(parts.lastIndexOf('verl'), parts.lastIndexOf('recipe'));
  if (at === -1 || typeof job !== 'string') return undefined;
  return [...parts.slice(at), job].join('.');
}

async function withVersion(
  found: FoundTrainer,
  packages: ReadonlyMap<string, string>,
): Promise<FoundTrainer> {
  const own = [found.settings.swift_version, await cardVersion(found), await checkoutVersion(found)];
  const installed = TRAINERS[found.name].packages.map((name) => packages.get(name));
  const version = [...own, ...installed].find((one) => typeof one === 'string' && VERSION.test(one));
  return { ...found, run: resolve(found.run), ...present({ version: version as string | undefined }) };
}

const VERSION = /^\d[\w.+-]{0,30}$/;

/** TRL writes the versions of its packages on the model card beside a checkpoint. */
async function cardVersion({ name, run }: FoundTrainer): Promise<string | undefined> {
  if (name !== 'trl' && name !== 'unsloth') return undefined;
  return /^- TRL: (\S+)$/m.exec((await textOf(join(run, 'README.md'))) ?? '')?.[1];
}

/** verl has its version in a file of its sources, and Hydra recorded where these are. */
async function checkoutVersion({ name, by }: FoundTrainer): Promise<string | undefined> {
  if (basename(dirname(by)) !== '.hydra' || TRAINERS[name].packages[0] !== 'verl') return undefined;
  const file = settingsOf(settingsOf(await readYaml(join(dirname(by), 'hydra.yaml')))?.hydra);
  const configs = mainFolderOf(settingsOf(file?.runtime));
  const home = configs?.match(/^.*\/verl(?=\/)/)?.[0];
  return home && (await textOf(join(home, 'version/version')))?.trim();
}

/** The versions of the packages of the newest W&B run that has them. */
async function packagesOf(folders: readonly string[]): Promise<ReadonlyMap<string, string>> {
  for (const folder of folders) {
    const runs = await readdir(folder).catch(() => []);
    // The name of a run begins with its time.
    for (const run of runs.filter((name) => /^(?:offline-)?run-/.test(name)).sort(byTime)) {
      const text = await textOf(join(folder, run, 'files/requirements.txt'));
      if (text !== undefined) return new Map(pinned(text));
    }
  }
  return new Map();
}

const byTime = (a: string, b: string): number => (timeOf(a) < timeOf(b) ? 1 : -1);
const timeOf = (name: string): string => name.replace(/^offline-/, '');

/** Names of packages with `-`, and their versions. */
const pinned = (text: string): [string, string][] =>
  [...text.matchAll(/^([\w.-]+)==(\S+)$/gm)].map(([, name, version]) => [
    name!.toLowerCase().replaceAll('_', '-'),
    version!,
  ]);

async function textOf(file: string): Promise<string | undefined> {
  const bytes = await readSmall(file);
  return bytes && Buffer.from(bytes).toString('utf8');
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
