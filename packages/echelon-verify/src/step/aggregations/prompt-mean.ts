import type { Aggregation } from './aggregation.ts';

/** The mean over groups of the mean over the tokens of a group. */
export const PROMPT_MEAN: Aggregation = {
  mode: 'prompt-mean',
  divisor: 'groups · counted tokens of the group',
  source: 'SkyRL prompt_mean',
  needs: (_settings, { hasGroups }) => (hasGroups ? [] : ['group']),
  divide: (layout, row, settings) => layout.groups * layout.tokensOfGroup(row, settings),
  common: (layout) => layout.groups,
};
