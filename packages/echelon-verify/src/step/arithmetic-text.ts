import type { StepBatch } from './format/step-batch.ts';

/** Everything stated that changes the numbers of a step, in one line. */
export function describeArithmetic({ step }: StepBatch): string {
  const { policyLoss, rolloutCorrection, kl, aggregation, entropyCoefficient } = step;
  const parts = [
    policyLoss && `${policyLoss.name}${parametersText(policyLoss.params)}`,
    rolloutCorrection && `weight${parametersText(rolloutCorrection)}`,
    kl && `kl${parametersText(kl)}`,
    entropyCoefficient && `entropy ${entropyCoefficient}`,
    aggregation && `${aggregation.mode}${parametersText(aggregation, ['mode'])}`,
  ];
  return parts.filter((part) => part !== undefined && part !== 0).join(' + ') || 'not stated';
}

function parametersText(params: object, skip: readonly string[] = []): string {
  const entries = Object.entries(params).filter(
    ([key, value]) => !skip.includes(key) && typeof value !== 'object',
  );
  return entries.length === 0 ? '' : `(${entries.map(([key, value]) => `${key}=${value}`).join(', ')})`;
}
