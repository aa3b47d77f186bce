/**
 * The file from which a driver reads its settings, for the example of every engine: the tests of the ray-worker start from them.
 * `node test/support/resolved-examples.ts` writes them.
 */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { allEngines } from '../../src/engines/registry.ts';
import { compilePlan } from '../../src/plan/compile-plan.ts';
import { resolveSpec } from '../../src/plan/resolve-spec.ts';

/** Their file. */
export const RESOLVED_EXAMPLES = join(import.meta.dirname, '../golden/vectors/resolved-examples.json');

/** By the names of the engines. */
export function resolvedExamples(): string {
  const contents = allEngines().map(({ name, example }) => {
    const { files } = compilePlan(resolveSpec(example, { customCode: true }).spec);
    return [name, JSON.parse(String(files['spec.json']))];
  });
  return `${JSON.stringify(Object.fromEntries(contents), null, 1)}\n`;
}

if (import.meta.main) writeFileSync(RESOLVED_EXAMPLES, resolvedExamples());
