import { EchelonError } from '../../../core/errors.ts';
import { variableProblems } from '../../../engines/variables.ts';
import { plainSecretProblems } from '../../../schemas/secrets.ts';
import type { Variables } from '../../../schemas/variables.ts';

/** Throws EchelonError `invalid-request` for variables that no cluster may set, and for secrets in plain text. */
export function refuseVariables(env: Variables): void {
  const problems = [...plainSecretProblems({ env }), ...variableProblems(env)];
  if (problems.length === 0) return;
  const fields = problems.map(({ field, message }) => `${field} ${message}`).join('; ');
  throw new EchelonError('invalid-request', `The request is invalid: ${fields}.`, { problems });
}
