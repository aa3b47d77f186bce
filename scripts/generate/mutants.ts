// Writes docs/evidence/mutants.md and docs/evidence/detection-power.md: plants every known bug, changes every golden row.
import { run } from '../../test/bench/mutants.ts';

await run(['--write']);
