/**
 * Plants every known bug, changes every golden row, and prints how much is found. With `--write` the pages
 * docs/evidence/mutants.md and docs/evidence/detection-power.md are written anew.
 */

import { writeFile } from 'node:fs/promises';
import {
  detectionPowerPage,
  mutantsPage,
} from '../../packages/echelon-verify/test/support/mutants/tables.ts';

/** Runs the suite. Arguments: `--write`. */
export async function run(args: readonly string[]): Promise<void> {
  const pages = { mutants: mutantsPage(), 'detection-power': detectionPowerPage() };
  for (const [name, text] of Object.entries(pages)) {
    if (args.includes('--write'))
      await writeFile(new URL(`../../docs/evidence/${name}.md`, import.meta.url), text);
    else console.log(text);
  }
}
