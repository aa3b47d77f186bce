import { Type } from 'typebox';
import { MAX_METRIC_NAME, METRIC_NAME } from '../core/metric-name.ts';

/** The name of a metric. */
export const metricName = (description: string) =>
  Type.String({
    pattern: METRIC_NAME,
    description: `${description} It has 1 to ${MAX_METRIC_NAME} characters and no control characters.`,
  });
