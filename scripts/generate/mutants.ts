// Writes docs/mutants.md and docs/sharpness.md: plants every known bug, changes every golden row.
import { run } from '../../test/bench/mutants.ts';

await run(['--write']);
