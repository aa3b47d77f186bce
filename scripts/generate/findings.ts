// Writes docs/reference/findings.md from the findings of batches and of steps.
import { writeFileSync } from 'node:fs';
import { FINDINGS, STEP_FINDINGS } from 'echelon-verify/report';

const table = (kinds: object) =>
  `| code | severity | meaning | remedy |
| --- | --- | --- | --- |
${Object.entries(kinds)
  .map(([code, { severity, means, remedy }]) => `| \`${code}\` | ${severity} | ${means} | ${remedy} |`)
  .join('\n')}`;

writeFileSync(
  'docs/reference/findings.md',
  `# Findings

A finding is an observation about a whole batch or dump. An \`error\` means that the batch contradicts itself or its stated
parameters. A \`warning\` means that data are poor or missing. A batch is ok if it has no wrong row, no unverifiable row and no error.
[How a batch is verified](../explanation/verification.md) explains the checks.

${table(FINDINGS)}

## Optimizer steps

These findings are about [the training step](../explanation/verify-the-step.md) after the advantage. Those that compare rollout engine
and trainer are statistics with a standard error, so they are warnings and never outcomes of tokens.

${table(STEP_FINDINGS)}
`,
);
