/** The commands that read files that others may have made, with what the help says of them: they run in a process with limited memory. */
export const FILE_COMMANDS = {
  verify: 'verify every advantage of recorded batches',
  explain: 'explain the advantage of a row',
  estimate: 'estimate the advantages with any estimator',
  compare: 'compare several estimators',
  signal: 'describe what recorded batches offer to learn from',
  identify: 'identify the estimator of given advantages',
};
