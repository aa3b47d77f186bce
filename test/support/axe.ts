import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';

const AXE = readFileSync(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

/** Serious and critical findings of axe on the page as it is: the rule and the first element of each. */
export async function seriousFindings(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const violations = (await page.evaluate(
    '(async () => (await axe.run({ resultTypes: ["violations"] })).violations.map(({ id, impact, nodes }) => ({ id, impact, html: nodes[0].html })))()',
  )) as { id: string; impact: string; html: string }[];
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, html }) => `${id} ${html.slice(0, 160)}`);
}
