import { plural } from 'command-kit/plural';
import type { Experiment } from 'echelon-client/calls';
import { contradictionsOf, isWrong } from 'echelon-verify/report/training-signal';
import { type Client, MAX_PAGE, readPages } from './client.ts';

/** Batches that are read to tell why a signal is wrong. */
const MAX_BATCHES = 2_000;

/** Why the training signal of an experiment is wrong: "3 wrong rows; steps-out-of-order in 2 batches; first in batch 1/3, step 3". */
export async function wrongSignalOf(
  client: Client,
  { id, verification }: Pick<Experiment, 'id' | 'verification'>,
): Promise<string> {
  const { items } = await readPages(
    (query) => client.get('/v1/experiments/{id}/batches', { path: { id }, query }),
    { limit: MAX_BATCHES, maxPage: MAX_PAGE },
  );
  const wrong = items.filter((one) => one.verification !== null && isWrong(one.verification));
  const batches = new Map<string, number>();
  for (const { verification: found } of wrong)
    for (const code of contradictionsOf(found!)) batches.set(code, (batches.get(code) ?? 0) + 1);
  const [first] = wrong;
  return [
    ...(verification.wrong > 0 ? [plural(verification.wrong, 'wrong row')] : []),
    ...Array.from(batches, ([code, count]) => `${code} in ${plural(count, 'batch', 'batches')}`),
    ...(first === undefined ? [] : [`first in batch ${first.attempt}/${first.batch}, step ${first.step}`]),
  ].join('; ');
}
