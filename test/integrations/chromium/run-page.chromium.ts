import { describe, expect, test } from 'vitest';
import { seriousProblems } from './support/axe.js';
import { useBrowsers } from './support/browser.js';
import { usePageSites } from './support/page-site.js';

const newBrowser = useBrowsers();
const newSite = usePageSites();

const WORDS = Array.from({ length: 60 }, (_, index) => `word${index}`).join(' ');
/** An answer that streams for nine seconds. */
const LONG = { text: WORDS, chunkDelayMs: 150 };

describe('the page of a run in a real browser', { timeout: 180_000 }, () => {
  test('the list leads to a run, whose text arrives while the model writes it', async () => {
    const site = await newSite({ steps: [LONG] });
    const runId = await site.start({ task: 'Count to sixty.' });
    const { page, errors, foreign } = await site.open(await newBrowser(), '/');
    await page.getByRole('link', { name: 'Count to sixty.' }).click();
    await page.getByRole('heading', { level: 1, name: 'Count to sixty.' }).waitFor();
    const answer = page.getByRole('article').filter({ hasText: 'Agent, turn 1' });
    await answer.getByText(/\bword5\b/u).waitFor();
    expect(await answer.getByText('word59').count(), 'the answer is in work').toBe(0);
    await answer.getByText('word59').waitFor({ timeout: 60_000 });
    await page.getByText('completed', { exact: true }).waitFor();
    expect(await answer.locator('> .markdown').innerText()).toBe(WORDS);
    expect(new URL(page.url()).pathname).toBe(`/runs/${runId}`);
    expect(await seriousProblems(page)).toEqual([]);
    expect([errors, foreign]).toEqual([[], []]);
  });
});
