// What was found, in one word and in counts.

const COUNTED = ['rows', 'exact', 'rounding', 'wrong', 'unverifiable'];

/** Rows by outcome, over all batches. */
export function countsOf(batches) {
  const sum = (name) => batches.reduce((total, batch) => total + batch[name], 0);
  return Object.fromEntries(COUNTED.map((name) => [name, sum(name)]));
}

/** `unreadable` comes before `wrong`, and `wrong` before `unproven`; nothing to verify is `unreadable`. */
export function outcomeOf(parts) {
  const statuses = parts.map(({ status }) => status);
  if (statuses.includes(1)) return 'wrong';
  if (statuses.some((status) => status !== 0 && status !== 3)) return 'unreadable';
  if (parts.every(({ batches, steps = [] }) => batches.length + steps.length === 0)) return 'unreadable';
  return statuses.includes(3) ? 'unproven' : 'ok';
}

/** The first batch that is not ok, with its first error. */
export function worstOf(batches) {
  const batch = batches.find(({ ok, consistent }) => !ok && !consistent) ?? {
    name: 'an optimizer step',
    findings: [],
  };
  const { file, name, findings } = batch;
  return { file, name, finding: findings.find(({ severity }) => severity === 'error') };
}

const BADGES = {
  ok: { color: 'brightgreen', message: ({ rows }) => `${rows.toLocaleString('en-US')} rows right` },
  wrong: {
    color: 'red',
    message: ({ wrong }) => (wrong > 0 ? `${wrong.toLocaleString('en-US')} rows wrong` : 'not ok'),
  },
  unproven: { color: 'yellow', message: () => 'nothing wrong, not verified' },
  unreadable: { color: 'lightgrey', message: () => 'unreadable' },
};

/** The badge as an endpoint of shields.io. */
export function badgeOf({ outcome, counts }) {
  const { color, message } = BADGES[outcome];
  return { schemaVersion: 1, label: 'advantages', message: message(counts), color };
}
