import { type Static, Type } from 'typebox';
import type { PlanCheck, PlanCorrection } from '../../schemas/records.ts';
import { strict } from '../../schemas/strict.ts';
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
export const RecipeSummary = Type.Object(recipeFields, { ...strict, $id: 'RecipeSummary' });

/** All recipes. */
export const RecipeList = Type.Object(
  { items: Type.Array(Type.Unsafe<Static<typeof RecipeSummary>>({ $ref: 'RecipeSummary#' })) },
  { ...strict, $id: 'RecipeList' },
);

const command = {
  program: Type.String({ description: 'Python module' }),
  overrides: Type.Array(Type.String(), { description: '`key=value`, in order' }),
  environment: Environment,
  commandLine: Type.String({ description: 'Quoted for a POSIX shell' }),
};

/** A recipe: what its script runs, what is run here instead, and the fields of its spec. */
export const RecipeDetail = Type.Object(
  {
    ...recipeFields,
    faithful: Type.Object(
      {
        ...command,
        dataPreparation: Type.Object(
          { program: Type.String(), arguments: Type.Array(Type.String()) },
          { ...strict, description: 'Command that the script runs first.' },
        ),
      },
      { ...strict, description: 'Arguments exactly as the script passes them, with its placeholders.' },
    ),
    corrected: Type.Object(
      {
        ...command,
        corrections: Type.Array(Type.Unsafe<Static<typeof PlanCorrection>>({ $ref: 'PlanCorrection#' })),
        checks: Type.Array(Type.Unsafe<Static<typeof PlanCheck>>({ $ref: 'PlanCheck#' })),
      },
      { ...strict, description: 'The plan as Echelon runs it.' },
    ),
    spec: Type.Unsafe<unknown>({ $ref: 'VerlAgentSpec#' }),
    fields: Type.Array(
      Type.Object(
        {
          field: Type.String({ description: 'JSON pointer into the spec.' }),
          keys: Type.Array(Type.String(), {
            description: 'Keys of the merged configuration that the field sets.',
          }),
          value: Type.Unknown({ description: 'Default of the field; null if unset.' }),
        },
        strict,
      ),
      { description: 'Fields of the spec that set keys of the configuration.' },
    ),
  },
  { ...strict, $id: 'Recipe' },
);
const presetFields = {
  name: Type.String(),
  title: Type.String(),
  trainings: Count,
  evaluations: Count,
};

/** Sweeps that reproduce the paper's tables. */
export const PresetList = Type.Object(
  { items: Type.Array(Type.Object(presetFields, strict)) },
  { ...strict, $id: 'PresetList' },
);

const Percent = Type.Optional(Type.Number({ description: 'Success rate in per cent.' }));

/** Engines with presets. */
const PresetSpec = Type.Unsafe<unknown>({ anyOf: [{ $ref: 'VerlAgentSpec#' }, { $ref: 'PromptSpec#' }] });

/** A preset: its trainings, each with its evaluations and what the paper has for them. */
export const PresetDetail = Type.Object(
  {
    ...presetFields,
    notes: Type.Array(Type.String()),
    runs: Type.Array(
      Type.Object(
        {
          name: Type.String(),
          figures: Type.Object(
            {
              inDomainSuccess: Percent,
              outOfDomainSuccess: Percent,
              webshopScore: Percent,
              webshopSuccess: Percent,
            },
            { ...strict, description: 'Figures of the paper.' },
          ),
          train: PresetSpec,
          evaluations: Type.Array(PresetSpec),
        },
        strict,
      ),
    ),
  },
  { ...strict, $id: 'PresetDetail' },
);
