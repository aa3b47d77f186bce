/** Longest name of a metric, in characters. */
export const MAX_METRIC_NAME = 200;

/**
 * The one rule for names of metrics, as a pattern: of those that are recorded, asked for, and named in a spec. The ray-worker
 * has the same (echelon_rayworker/bounds.py).
 */
export const METRIC_NAME = `^[^\\u0000-\\u001f\\u007f]{1,${MAX_METRIC_NAME}}$`;

const WHOLE = new RegExp(METRIC_NAME, 'u');

/** Whether a text can be the name of a metric. */
export const isMetricName = (text: string): boolean => WHOLE.test(text);
