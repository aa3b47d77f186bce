export { PRECISIONS } from './arithmetic/arithmetic.ts';
export type { ClusterLevel } from './kernel/clusters.ts';
export { clusterLevels, MAX_LEVEL_ENTRIES } from './kernel/clusters.ts';
export type {
  Combination,
  ContextTerms,
  Estimator,
  EstimatorInput,
  GroupTerm,
  Norm,
  RowFormula,
  RowPlan,
  Uses,
  Variant,
} from './kernel/estimators/estimator.ts';
export { fingerprint } from './kernel/estimators/fingerprint.ts';
export type { GigpoParameters } from './kernel/estimators/gigpo.ts';
export { GIGPO_RECIPE, gigpo, gigpoStepTerm } from './kernel/estimators/gigpo.ts';
export type { GrpoParameters } from './kernel/estimators/grpo.ts';
export { GRPO_RECIPE, grpo } from './kernel/estimators/grpo.ts';
export type { HgpoParameters } from './kernel/estimators/hgpo.ts';
export { HGPO_RECIPE, hgpo, levelWeights } from './kernel/estimators/hgpo.ts';
export type {
  AnyParameters,
  ParameterRule,
  ParameterRules,
  ParametersOf,
  ParameterValue,
} from './kernel/estimators/parameters.ts';
export { completeParameters } from './kernel/estimators/parameters.ts';
export type { EstimatorName, EstimatorParameters } from './kernel/estimators/registry.ts';
export {
  ESTIMATORS,
  estimatorNames,
  estimatorOf,
  isEstimatorName,
  parameterFromText,
} from './kernel/estimators/registry.ts';
export type { RlooParameters } from './kernel/estimators/rloo.ts';
export { RLOO_RECIPE, rloo } from './kernel/estimators/rloo.ts';
export type { ReturnParameters, RewardColumns } from './kernel/returns.ts';
export { stepReturns } from './kernel/returns.ts';
export type { GroupSingleton, GroupStatistics } from './kernel/sets/row-sets.ts';
export type { Deviation, EpsilonPlace } from './kernel/sets/spread.ts';
export type { NormMode, StepColumns } from './kernel/sets/steps.ts';
export { checkHistoryLength, MAX_HISTORY_LENGTH } from './kernel/sets/steps.ts';
