/** First segments of the dashboard's paths: the api answers each with the dashboard, which shows the screen. `''` is the home. */
export const SCREENS = [
  '',
  'experiments',
  'sweeps',
  'compare',
  'comparisons',
  'queue',
  'clusters',
  'submit',
  'verify',
  'rules',
  'access',
  'system',
] as const;
