import type { RowSet } from '../sets/row-sets.ts';
import type { Stage } from './chain.ts';

/** A stage of a chain in words. */
export function stageText(stage: Stage): string {
  switch (stage.do) {
    case 'accumulate': {
      const { discount, lambda, values, masked } = stage;
      const what = values ? `generalised advantage, lambda ${lambda},` : 'return,';
      return `${what} discount ${discount}, tokens outside the mask: ${masked}`;
    }
    case 'subtract-greedy-reward':
      return 'less the reward of the greedy response';
    case 'subtract-token-baseline': {
      const places = stage.align === 'position' ? 'at its position' : 'trained at its place';
      const tail = stage.zeroTail ? ', none in the tail of the longest response' : '';
      const weights = stage.rolloutWeights ? ', with squared rollout weights' : '';
      return `less the weighted mean of the group’s tokens ${places}${tail}${weights}, epsilon ${stage.epsilon}`;
    }
    case 'subtract-mean':
      return `less the mean of ${setText(stage.set)}`;
    case 'subtract-others':
      return 'less the mean of the other rows of the group';
    case 'subtract-moving-average':
      return `less the moving average of the group, decay ${stage.decay}`;
    case 'best-less-second':
      return 'the best row less the second best of the group, 0 for the others';
    case 'divide-by-deviation': {
      const whose = stage.others ? 'the others of ' : '';
      const what = stage.of === 'scores' ? 'scores' : 'these values';
      const guard = stage.guard === undefined ? '' : `, only above ${stage.guard.above}`;
      return `over the ${stage.deviation} deviation of ${what} in ${whose}${setText(stage.set)}, epsilon ${stage.epsilon} (${stage.epsilonPlace})${guard}`;
    }
    case 'divide-by-mean':
      return `over the mean of the group, epsilon ${stage.epsilon}`;
    case 'multiply-by-signal-share':
      return 'times rows over rows with a score other than 0';
    case 'clip':
      return `clipped to ±${stage.limit}`;
  }
}

function setText({ over, weight }: RowSet): string {
  return weight === 'token' ? `the ${over}, by tokens` : `the ${over}`;
}
