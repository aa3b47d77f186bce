/** What the generators of scripts/generate write into the repository. CONTRIBUTING.md says which files those are. */
export const GENERATED = [
  'deploy/ray-worker/echelon_rayworker/gen/*.py',
  'docs/assets/tour.svg',
  'docs/gallery/*',
  'docs/reference/api-surface.txt',
  'docs/reference/estimators.md',
  'docs/reference/fingerprints.md',
  'docs/evidence/detection-power*.md',
  'docs/evidence/mutants.md',
  'docs/evidence/step-detection.md',
  'docs/reference/findings.md',
  'docs/reference/step-stages.md',
  'deploy/capture/echelon_capture/format/estimator_table.py',
  'deploy/capture/echelon_capture/form_table.py',
];
