import { withLifetime } from './lifetime.ts';
import type { Output } from './output.ts';

/** Exit status of a program that Ctrl-C ended, as shells have it. */
const INTERRUPTED = 130;

/** Follows something until it is over; at Ctrl-C says that it continues, and how to follow it again. */
export async function interruptible(
  { id, output }: { id: string; output: Output },
  follow: () => Promise<void>,
): Promise<void> {
  await withLifetime(follow, (why) => {
    if ('err' in why) throw why.err;
    output.remark(`\n${id} continues; this follows it again:\n  echelon watch ${id}`);
    process.exitCode = INTERRUPTED;
  });
}
