import type { Locator, Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { seriousProblems } from './support/axe.js';
import { useBrowsers } from './support/browser.js';
import { usePageSites } from './support/page-site.js';

const newBrowser = useBrowsers();
const newSite = usePageSites();

/** Its sessions wait at their first limit. */
const CONFIG = `import { defineConfig, defineTool } from 'perdure';
const count = defineTool({
  name: 'count', description: 'Counts.', parameters: { type: 'object', properties: { number: { type: 'number' } } },
  effect: 'read', execute: ({ number }) => 'counted ' + number,
});
const limited = { description: 'Counts once.', prompt: 'Count.', tools: ['count'], maxTurns: 1, budget: { onBudget: 'ask' } };
export default defineConfig({ model: 'scripted/script.json', tools: [count], agents: { limited } });
`;

function counting(number: number): object {
  return { text: `I count ${number}.`, toolCalls: [{ name: 'count', args: { number } }] };
}

const STEPS = [counting(1), counting(2), counting(3), { text: 'All is counted.' }];

describe('a run that waits at a limit, in a real browser', { timeout: 180_000 }, () => {
  test('C12: the page shows the limit and its use, and extends it, each time that the run reaches it', async () => {
    const site = await newSite({ config: CONFIG, steps: STEPS });
    const runId = await site.start({ maxTurns: 1, maxTokens: 100_000, onBudget: 'ask' });
    const { page, errors } = await site.open(await newBrowser(), `/runs/${runId}`);
    const first = cardOf(page, '1 turns');
    await first.getByText('1 of 1 used').waitFor();
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    expect(await seriousProblems(page)).toEqual([]);
    // another limit does not let it go on, and the card says so
    await newLimit(first, 'Tokens').fill('250000');
    await newLimit(first, 'Turns').fill('1');
    await first.getByRole('button', { name: 'Extend' }).click();
    await first.getByText('of 250k used').waitFor();
    await newLimit(first, 'Turns').fill('2');
    await first.getByRole('button', { name: 'Extend' }).click();
    const second = cardOf(page, '2 turns');
    await second.getByText('2 of 2 used').waitFor();
    await page.locator('.announced p', { hasText: 'Waiting for an increase of the limit of 2 turns' }).waitFor({ state: 'attached' });
    expect(await cardOf(page, '1 turns').count()).toBe(0);
    expect(await newLimit(second, 'Turns').inputValue()).toBe('4');
    await second.getByRole('button', { name: 'Extend' }).click();
    await page.locator('article.answer', { hasText: 'All is counted.' }).waitFor();
    await page.locator('.head .badge', { hasText: 'completed' }).waitFor();
    expect(await page.getByLabel('Waiting for you').isVisible()).toBe(false);
    const { progress } = (await site.ask(`/v1/runs/${runId}`)) as { progress: { maxTurns: number; limits: object } };
    expect([progress.maxTurns, progress.limits]).toEqual([4, { maxTokens: 250_000 }]);
    expect(errors).toEqual([]);
  });

  test('C12: a reached limit is denied on the page of its session, and the run ends with its last answer', async () => {
    const site = await newSite({ config: CONFIG, steps: [counting(1)] });
    await site.ask('/v1/sessions/limited/messages', { text: 'Count.', agent: 'limited' });
    const { page, errors } = await site.open(await newBrowser(), '/sessions/limited');
    await cardOf(page, '1 turns').getByLabel('Reason of a denial').fill('enough');
    await cardOf(page, '1 turns').getByRole('button', { name: 'Deny' }).click();
    await page.getByText('The answer ended: max turns.').waitFor();
    await page.locator('article.answer', { hasText: 'final answer' }).getByText('The script gives no final answer.').waitFor();
    expect(errors).toEqual([]);
  });
});

function cardOf(page: Page, limit: string): Locator {
  return page.getByRole('article', { name: `Limit reached: ${limit}` });
}

function newLimit(card: Locator, name: string): Locator {
  return card.getByLabel(`New limit: ${name}`);
}
