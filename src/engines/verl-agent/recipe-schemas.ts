import { type Static, Type } from 'typebox';
import { Text } from '../../schemas/answer-parts.ts';
import { DescribedObject, NamedObject, StrictObject } from '../../schemas/objects.ts';
import type { PlanCheck, PlanCorrection } from '../../schemas/records.ts';
import { RECIPE_NAMES } from './spec.ts';

const Count = Type.Integer({ minimum: 0 });
const Environment = Type.Record(Type.String(), Type.String());
const recipeFields = {
  name: Type.Enum([...RECIPE_NAMES], { type: 'string', description: "Its script's" }),
  modelSize: Type.Enum(['1.5b', '7b'], { type: 'string' }),
  environment: Type.Enum(['alfworld', 'webshop'], { type: 'string' }),
  phase: Type.Enum(['train', 'eval'], { type: 'string' }),
  gpus: Type.Integer({ minimum: 1 }),
};

/** A script of verl-agent's recipe/hgpo. */
export const RecipeSummary = NamedObject('RecipeSummary', recipeFields);

/** All recipes. */
export const RecipeList = NamedObject('RecipeList', {
  items: Type.Array(Type.Unsafe<Static<typeof RecipeSummary>>({ $ref: 'RecipeSummary#' })),
});

const command = {
  program: Text('Python module'),
  overrides: Type.Array(Type.String(), { description: '`key=value`, in order' }),
  environment: Environment,
  commandLine: Text('Quoted for a POSIX shell'),
};

/** A recipe: what its script runs, what is run here instead, and the fields of its spec. */
export const RecipeDetail = NamedObject('Recipe', {
  ...recipeFields,
  faithful: DescribedObject('Arguments exactly as the script passes them, with its placeholders.', {
    ...command,
    dataPreparation: DescribedObject('Command that the script runs first.', {
      program: Type.String(),
      arguments: Type.Array(Type.String()),
    }),
  }),
  corrected: DescribedObject('The plan as Echelon runs it.', {
    ...command,
    corrections: Type.Array(Type.Unsafe<Static<typeof PlanCorrection>>({ $ref: 'PlanCorrection#' })),
    checks: Type.Array(Type.Unsafe<Static<typeof PlanCheck>>({ $ref: 'PlanCheck#' })),
  }),
  spec: Type.Unsafe<unknown>({ $ref: 'VerlAgentSpec#' }),
  fields: Type.Array(
    StrictObject({
      field: Text('JSON pointer into the spec.'),
      keys: Type.Array(Type.String(), {
        description: 'Keys of the merged configuration that the field sets.',
      }),
      value: Type.Unknown({ description: 'Default of the field; null if unset.' }),
    }),
    { description: 'Fields of the spec that set keys of the configuration.' },
  ),
});
const presetFields = {
  name: Type.String(),
  title: Type.String(),
  trainings: Count,
  evaluations: Count,
};

/** Sweeps that reproduce the paper's tables. */
export const PresetList = NamedObject('PresetList', { items: Type.Array(StrictObject(presetFields)) });

const Percent = Type.Optional(Type.Number({ description: 'Success rate in per cent.' }));

/** Engines with presets. */
const PresetSpec = Type.Unsafe<unknown>({ anyOf: [{ $ref: 'VerlAgentSpec#' }, { $ref: 'PromptSpec#' }] });

/** A preset: its trainings, each with its evaluations and what the paper has for them. */
export const PresetDetail = NamedObject('PresetDetail', {
  ...presetFields,
  notes: Type.Array(Type.String()),
  runs: Type.Array(
    StrictObject({
      name: Type.String(),
      figures: DescribedObject('Figures of the paper.', {
        inDomainSuccess: Percent,
        outOfDomainSuccess: Percent,
        webshopScore: Percent,
        webshopSuccess: Percent,
      }),
      train: PresetSpec,
      evaluations: Type.Array(PresetSpec),
    }),
  ),
});
