/**
 * The arguments of a slime run, as far as they concern the advantages. slime writes none beside its dumps: they are read from
 * `args.json`, `args.yaml` or `config.yaml`, from the newest checkpoint of Megatron, or from the script that starts the run.
 */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { DumpOptions, FoundConfiguration } from './adapter.ts';
import { readSmall, readYaml, type Settings, settingsOf } from './config-yaml.ts';
import { estimatorOfSettings } from './dump-batch.ts';
import { readArguments } from './training-args.ts';

const NAMES = ['args.json', 'args.yaml', 'config.yaml'];
/** Arguments of which one is in every configuration of a run. */
const STATING = ['advantage_estimator', 'n_samples_per_prompt'];
/** Arguments of which each turns another one off. */
const DISABLED: Readonly<Record<string, string>> = {
  disable_grpo_std_normalization: 'grpo_std_normalization',
  disable_rewards_normalization: 'rewards_normalization',
};
/** Arguments that change advantages in a way that is not known, if they are set. */
const CHANGES = ['custom_reward_post_process_path', 'custom_advantage_function_path', 'use_opd'];

/** The configuration in one of the folders, the first that has one. */
export async function findSlimeConfig(folders: readonly string[]): Promise<FoundConfiguration | undefined> {
  for (const folder of folders) {
    const scripts: FoundConfiguration[] = [];
    for (const [file, read] of placesIn(folder)) {
      const settings = await read(file);
      if (settings === undefined || !STATING.some((name) => name in settings)) continue;
      const found = { file, options: optionsOf(settings), estimator: estimatorOf(settings) };
      if (read !== fromScript) return found;
      scripts.push(found);
    }
    if (scripts.length > 0) return commonOf(scripts);
  }
  return undefined;
}

/** What all scripts of a folder state: if they differ, nothing tells which of them started the run. */
function commonOf([first, ...others]: readonly FoundConfiguration[]): FoundConfiguration | undefined {
  if (first === undefined) return undefined;
  const other = others.find(
    (one) => !isDeepStrictEqual([one.options, one.estimator], [first.options, first.estimator]),
  );
  if (other === undefined) return first;
  return { ...first, options: {}, estimator: { unreadable: `${other.file} states other settings` } };
}

type Reader = (file: string) => Promise<Settings | undefined>;

function placesIn(folder: string): [string, Reader][] {
  const names = namesIn(folder);
  const checkpoints = names.filter((name) => /^iter_\d+$/.test(name)).sort();
  return [
    ...NAMES.map((name): [string, Reader] => [join(folder, name), fromYaml]),
    ...checkpoints
      .toReversed()
      .map((name): [string, Reader] => [join(folder, name, 'common.pt'), fromMegatron]),
    ...names
      .filter((name) => name.endsWith('.sh'))
      .map((name): [string, Reader] => [join(folder, name), fromScript]),
  ];
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** JSON is YAML. */
async function fromYaml(file: string): Promise<Settings | undefined> {
  const settings = settingsOf(await readYaml(file));
  return settings && named(Object.entries(settings));
}

async function fromMegatron(file: string): Promise<Settings | undefined> {
  return await readArguments(file, 'args');
}

/** The options in the text of a script. One whose value is a variable is not known. */
async function fromScript(file: string): Promise<Settings | undefined> {
  const bytes = await readSmall(file);
  if (bytes === undefined) return undefined;
  const lines = Buffer.from(bytes).toString('utf8').split('\n');
  const text = lines.filter((line) => !/^\s*#/.test(line)).join(' ');
  const options = [...text.matchAll(/--([a-z][a-z0-9-]*)(?:[ =]+([^\s\\-][^\s\\)]*))?/g)];
  return named(options.map(([, name, value]) => [name!, value === undefined ? true : optionOf(value)]));
}

function optionOf(text: string): unknown {
  const bare = text.replace(/^(["'])(.*)\1$/, '$2');
  if (bare.includes('$')) return undefined;
  return Number.isNaN(Number(bare)) ? bare : Number(bare);
}

function named(entries: readonly (readonly [string, unknown])[]): Settings {
  const settings = entries.map(([name, value]) => [name.replaceAll('-', '_'), value] as const);
  const off = settings.flatMap(([name, value]) =>
    name in DISABLED && value === true ? [[DISABLED[name]!, false] as const] : [],
  );
  return Object.fromEntries([...settings, ...off]);
}

function optionsOf(settings: Settings): DumpOptions {
  const { n_samples_per_prompt: size, rollout_batch_size: groups } = settings;
  const withoutEffect = idleSettings(settings);
  return {
    ...(typeof size === 'number' ? { groupSize: size } : {}),
    ...(typeof size === 'number' && typeof groups === 'number' ? { blockRows: size * groups } : {}),
    ...(withoutEffect.length > 0 ? { withoutEffect } : {}),
  };
}

/** Estimators whose advantages are the rewards of the groups alone: the KL penalty of the reward has no effect. */
const WITHOUT_KL = ['grpo', 'gspo'];

function idleSettings({ advantage_estimator: name = 'grpo', kl_coef: kl }: Settings): string[] {
  const isIdle = typeof kl === 'number' && kl !== 0 && WITHOUT_KL.includes(String(name));
  return isIdle ? [`kl_coef=${kl} has no effect with ${String(name)}`] : [];
}

function estimatorOf(settings: Settings): FoundConfiguration['estimator'] {
  const open = Object.keys(settings).find((name) => DECIDING.includes(name) && settings[name] === undefined);
  if (open !== undefined) return { unreadable: `${open} is a variable of the script` };
  const changes = CHANGES.filter((name) => (settings[name] ?? false) !== false);
  const known = changes.length === 0 ? estimatorOfSettings('slime', settings) : undefined;
  if (known !== undefined) return known;
  const deciding = [...DECIDING, ...changes].filter((name) => settings[name] !== undefined);
  return { unsupported: deciding.map((name) => `${name}=${String(settings[name])}`).join(', ') };
}

const DECIDING = [
  'advantage_estimator',
  'rewards_normalization',
  'grpo_std_normalization',
  'normalize_advantages',
  'gamma',
  'lambd',
  'kl_coef',
];
