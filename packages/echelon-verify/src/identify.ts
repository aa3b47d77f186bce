/** `echelon-verify/identify`: known forms of the estimators of trainers. */

export type { TrainerSettings } from './identify/fingerprints.ts';
export { formOfSettings } from './identify/fingerprints.ts';
