import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** The violations of accessibility rules that axe-core finds on a page, if they are serious or critical: their rule and their elements. */
export async function seriousProblems(page: Page): Promise<string[]> {
  // not a script of the page, so its policy does not stop it
  await page.evaluate(axe.source);
  const violations = await page.evaluate(async () => {
    // the source defines it
    const { axe: inPage } = globalThis as unknown as { axe: typeof axe };
    return (await inPage.run()).violations.map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.map(({ html }) => html) }));
  });
  return violations.flatMap(({ id, impact, nodes }) =>
    impact === 'serious' || impact === 'critical' ? [`${id}: ${nodes.join(' ')}`] : [],
  );
}
