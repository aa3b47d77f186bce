import type { SpecOfCommand } from '../engine.ts';
import { createDraft, same } from './draft.ts';
import { readEstimator } from './estimators.ts';
import { fieldValue, OWNED_KEYS } from './fields.ts';
import { type HydraValue, readHydraText } from './hydra.ts';
import { ALLOWED_OVERRIDES, overrideProblems } from './overrides.ts';
import { RECIPES, type Recipe } from './recipes.ts';
import type { VerlAgentSpec } from './spec.ts';

/** What the plan names or makes by itself for every run; not worth a word. */
const MADE_BY_PLAN =
  /^(trainer\.(project_name|experiment_name|val_only|total_training_steps)|data\.(train|val)_files)$/;
const EXPERIMENT = 'trainer.experiment_name';

/** The modules of verl-agent that start a training, as words of a command line name them. */
const PROGRAM = /(^|[./])main_(hgpo|ppo|graphgpo)(\.py)?$/;

/** See `Recipes.ofCommand`: `-m recipe.hgpo.main_hgpo key=value …`. */
export function specOfCommand(words: readonly string[]): SpecOfCommand<VerlAgentSpec> | undefined {
  const at = words.findIndex((word) => PROGRAM.test(word));
  if (at < 0) return undefined;
  const script = new Map(
    words.slice(at + 1).flatMap((word): [string, string][] => {
      const equals = word.indexOf('=');
      return equals > 0 ? [[word.slice(0, equals), unquoted(word.slice(equals + 1))]] : [];
    }),
  );
  const { value: read } = createDraft([...script]);
  const recipe = nearestRecipe(read);
  const estimator = readEstimator(read);
  if (estimator === undefined)
    throw new TypeError(`no recipe runs the estimator ${read('algorithm.adv_estimator')}`);
  const { fields, overrides, missing } = differences(script, recipe);
  const name = script.get(EXPERIMENT) ?? recipe.name;
  const spec = { name, engine: 'verl-agent', recipe: recipe.name, estimator, ...fields } as VerlAgentSpec;
  if (Object.keys(overrides).length > 0) spec.overrides = overrides;
  return { spec, recipe: recipe.name, settings: script.size, missing };
}

/** A shell has taken its own quotes away; Hydra's remain. */
const unquoted = (text: string): string => /^(['"])(.*)\1$/.exec(text)?.[2] ?? text;

/** The recipe of the same trainer, environment and phase from which the fewest settings differ. */
function nearestRecipe(read: (key: string) => HydraValue | null): Recipe {
  const named = String(read('env.env_name')).toLowerCase();
  const environment = ['alfworld', 'webshop'].find((one) => named.includes(one));
  if (environment === undefined)
    throw new TypeError(`no recipe has the environment ${named}; the engine \`command\` runs any program`);
  const method = read('algorithm.adv_estimator') === 'graphgpo' ? 'graphgpo' : 'hgpo';
  const phase = read('trainer.val_only') === true ? 'eval' : 'train';
  const fitting = RECIPES.filter(
    (one) => one.environment === environment && one.method === method && one.phase === phase,
  );
  if (fitting.length === 0) throw new TypeError(`no recipe of ${method} evaluates on ${environment}`);
  const distance = ({ overrides }: Recipe) =>
    overrides.filter(([key, text]) => !same(read(key), readHydraText(text))).length;
  return fitting.reduce((best, one) => (distance(one) < distance(best) ? one : best));
}

/** What a spec must say so that every setting of a script is the same as with the recipe. */
function differences(script: ReadonlyMap<string, string>, recipe: Recipe) {
  const [read, usual] = [createDraft([...script]).value, createDraft(recipe.overrides).value];
  const fields: Record<string, Record<string, HydraValue>> = {};
  const overrides: NonNullable<VerlAgentSpec['overrides']> = {};
  const missing: SpecOfCommand<VerlAgentSpec>['missing'] = [];
  for (const key of new Set([...script.keys(), ...recipe.overrides.map(([key]) => key)])) {
    const value = read(key);
    const pointer = OWNED_KEYS.get(key);
    if (same(value, usual(key)) || MADE_BY_PLAN.test(key) || pointer?.startsWith('/estimator/')) continue;
    const why = pointer === undefined ? refusal(key, value) : undefined;
    const said = pointer === undefined ? null : fieldValue(key, value);
    if (pointer !== undefined && said === null) {
      const why = `a spec cannot leave it open; that of the recipe is taken, ${usual(key)}`;
      missing.push({ key, text: script.get(key) ?? '(not passed)', why });
    } else if (pointer !== undefined) {
      const [section, field] = pointer.slice(1).split('/') as [string, string];
      fields[section] ??= {};
      fields[section][field] = said!;
    } else if (why === undefined) overrides[key] = value as string | number | boolean;
    else if (script.has(key)) missing.push({ key, text: script.get(key)!, why });
  }
  return { fields, overrides, missing };
}

/** Why an override cannot be in a spec; undefined if it can. */
function refusal(key: string, value: HydraValue | null): string | undefined {
  if (value === null && Object.hasOwn(ALLOWED_OVERRIDES, key)) return 'is the default here';
  return overrideProblems({ [key]: value }, { allowCustomCode: false, owned: new Map() })[0]?.message;
}
