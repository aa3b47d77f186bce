import { type Static, Type } from 'typebox';
import { NamedObject } from './objects.ts';
import { count } from './optional-fields.ts';
import { Label, Name } from './spec-parts.ts';

/** The body of a preset's submission: the settings of each of its children. */
export const SubmitPreset = NamedObject('SubmitPreset', {
  name: Type.Optional(Label),
  project: Type.Optional(Name),
  cluster: Type.Optional(Name),
  priority: count(-100, 100),
  home: Type.Optional(
    Type.String({
      pattern: '^(?!.*\\.\\.)/[A-Za-z0-9._/ -]{0,254}$',
      description:
        'verl-agent checkout on the cluster. Default: the checkout that the cluster names in VERL_AGENT_HOME.',
    }),
  ),
  label: Type.Optional({
    ...Name,
    description:
      'Label that separates the checkpoints. Without a label, a finished training is not run again.',
  }),
  runs: Type.Optional(
    Type.Array(Label, {
      minItems: 1,
      maxItems: 100,
      uniqueItems: true,
      description: 'Names of the trainings to run. Default: all.',
    }),
  ),
});
export type SubmitPreset = Static<typeof SubmitPreset>;
