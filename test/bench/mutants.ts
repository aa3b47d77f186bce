/**
 * Plants every known bug, changes every golden row, and prints how much is found. With `--write` the pages
 * docs/evidence/mutants.md and docs/evidence/detection-power.md are written anew.
 */

import {
  detectionPowerPage,
  mutantsPage,
} from '../../packages/echelon-verify/test/support/mutants/tables.ts';
import { optionsOf, writePage } from './harness.ts';

/** Runs the suite. Arguments: `--write`. */
export function run(args: readonly string[]): void {
  const { write } = optionsOf(args, { write: false });
  const pages = { mutants: mutantsPage(), 'detection-power': detectionPowerPage() };
  for (const [name, text] of Object.entries(pages)) {
    if (write) writePage(`evidence/${name}`, () => text);
    else console.log(text);
  }
}
