export type { ClusterLevel } from './clusters.ts';
export { clusterLevels, MAX_LEVEL_ENTRIES } from './clusters.ts';
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
} from './estimators/estimator.ts';
export { fingerprint } from './estimators/fingerprint.ts';
export type { GigpoParameters } from './estimators/gigpo.ts';
export { GIGPO_RECIPE, gigpo, gigpoStepTerm } from './estimators/gigpo.ts';
export type { GrpoParameters } from './estimators/grpo.ts';
export { GRPO_RECIPE, grpo } from './estimators/grpo.ts';
export type { HgpoParameters } from './estimators/hgpo.ts';
export { HGPO_RECIPE, hgpo, levelWeights } from './estimators/hgpo.ts';
export type {
  AnyParameters,
  ParameterRule,
  ParameterRules,
  ParametersOf,
  ParameterValue,
} from './estimators/parameters.ts';
export { completeParameters } from './estimators/parameters.ts';
export type { EstimatorName, EstimatorParameters } from './estimators/registry.ts';
export { ESTIMATORS, estimatorNames, isEstimatorName } from './estimators/registry.ts';
export type { RlooParameters } from './estimators/rloo.ts';
export { RLOO_RECIPE, rloo } from './estimators/rloo.ts';
export type { ReturnParameters, RewardColumns } from './returns.ts';
export { stepReturns } from './returns.ts';
export type { GroupSingleton, GroupStatistics } from './sets/row-sets.ts';
export type { Deviation, EpsilonPlace } from './sets/spread.ts';
export type { NormMode, StepColumns } from './steps.ts';
export { checkHistoryLength, MAX_HISTORY_LENGTH } from './steps.ts';
