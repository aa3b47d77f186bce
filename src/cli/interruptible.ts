import type { Output } from 'echelon-verify/cli/output';
import { withLifetime } from './lifetime.ts';

/** Exit status of a program that Ctrl-C ended, by the convention of shells. */
const INTERRUPTED = 130;

/** Runs `follow` to its end. Ctrl-C stops only the following: a remark tells how to follow again. */
export async function interruptible(
  { id, output }: { id: string; output: Output },
  follow: () => Promise<void>,
): Promise<void> {
  await withLifetime(follow, (why) => {
    if ('err' in why) throw why.err;
    output.remark(`\n${id} continues. Follow it again with:\n  echelon watch ${id}`);
    process.exitCode = INTERRUPTED;
  });
}
