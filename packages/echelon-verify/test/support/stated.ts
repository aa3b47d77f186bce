/** Estimators as a file states them, all parameters side by side: short to write in tests. */

import type { Batch, BatchEstimator } from '../../src/format/batch.ts';
import { readEstimator } from '../../src/format/json-params.ts';
import type { EstimatorOverrides } from '../../src/identify/estimate.ts';
import type { EstimatorName } from '../../src/kernel/estimators/registry.ts';
import type { GigpoParameters, GrpoParameters, HgpoParameters } from '../../src/kernel.ts';

type OfBatch = Omit<BatchEstimator, 'name' | 'params' | 'others'>;

type OfAny = Omit<HgpoParameters, 'singleton'> &
  Omit<GigpoParameters, 'singleton'> &
  Omit<GrpoParameters, 'singleton'>;

/** What a file's `params` may hold, with `name` for the estimator's. */
export type Stated = Partial<OfBatch> &
  Partial<OfAny> & { readonly name?: EstimatorName; readonly singleton?: 'drop' | 'raw' | 'zero' | 'nan' };

/** The estimator that a file with these parameters states. */
export function stated({ name, ...parameters }: Stated): BatchEstimator {
  const place = { file: 'test', batch: 'test' };
  return readEstimator(place, { estimator: name, ...parameters }, { returns: false });
}

/** The batch with some of its estimator's parameters stated otherwise. */
export function restated(batch: Batch, changes: Stated): Batch {
  const { params, others, ...rest } = batch.estimator;
  return { ...batch, estimator: stated({ ...others, ...params, ...rest, ...changes } as Stated) };
}

/** All parameters of a batch's estimator side by side; those of other estimators are undefined. */
export function parametersOf({ name, params }: BatchEstimator): Partial<OfAny> {
  const all = params as Partial<OfAny>;
  return name === 'hgpo' ? { ...all, statistics: (params as HgpoParameters).baseStatistics } : all;
}

/** The overrides that replace these parameters. */
export function overridesOf({ name, gamma, invalidActionPenalty, ...params }: Stated): EstimatorOverrides {
  return {
    params: params as NonNullable<EstimatorOverrides['params']>,
    ...(name === undefined ? {} : { name }),
    ...(gamma === undefined ? {} : { gamma }),
    ...(invalidActionPenalty === undefined ? {} : { invalidActionPenalty }),
  };
}
