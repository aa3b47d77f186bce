// Writes docs/evidence/step-detection.md: plants every known bug of a training step and says what finds and names it.
import { writeFileSync } from 'node:fs';
import { detectionPage } from '../../packages/echelon-verify/test/step/detection.ts';

writeFileSync('docs/evidence/step-detection.md', detectionPage());
