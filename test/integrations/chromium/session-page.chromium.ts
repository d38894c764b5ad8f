import { describe, expect, test } from 'vitest';
import { useBrowsers } from './support/browser.js';
import { usePageSites } from './support/page-site.js';

const newBrowser = useBrowsers();
const newSite = usePageSites();

const WORDS = Array.from({ length: 40 }, (_, index) => `word${index}`).join(' ');

describe('the page of a session in a real browser', { timeout: 180_000 }, () => {
  test('C-01, A-29: a conversation starts with its first message, queues the next, and is whole after a reload and in the list', async () => {
    const site = await newSite({ steps: [{ text: `${WORDS} to {{lastUser}}`, chunkDelayMs: 100 }, { text: 'An answer to {{lastUser}}' }] });
    const { page, errors } = await site.open(await newBrowser(), '/');
    await page.getByLabel('Key').fill('talk-1');
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByText('No messages yet').waitFor();
    const box = page.getByLabel('Message', { exact: true });
    await box.fill('the first');
    await box.press('Enter');
    await page.locator('article.answer', { hasText: /\bword3\b/u }).waitFor();
    await box.fill('the second');
    await box.press('Enter');
    await page.getByText('waits (followup)').waitFor();
    await page.locator('article.answer', { hasText: 'An answer to the second' }).waitFor({ timeout: 60_000 });
    const shown = [`${WORDS} to the first`, 'An answer to the second'];
    await expect.poll(() => page.locator('article.answer > .markdown').allInnerTexts()).toEqual(shown);
    await page.reload();
    await page.locator('article.answer', { hasText: 'An answer to the second' }).waitFor();
    await expect.poll(() => page.locator('article.answer > .markdown').allInnerTexts()).toEqual(shown);
    expect(await page.locator('article.message > .markdown').allInnerTexts()).toEqual(['the first', 'the second']);
    await page.goto(site.url);
    await page.getByRole('link', { name: 'talk-1', exact: true }).waitFor();
    expect(errors).toEqual([]);
  });

  test('C-06: a message that waits is withdrawn', async () => {
    const site = await newSite({ steps: [{ text: WORDS, chunkDelayMs: 150 }, { text: 'Never.' }] });
    const { page } = await site.open(await newBrowser(), '/sessions/talk-2');
    const box = page.getByLabel('Message', { exact: true });
    await box.fill('one');
    await box.press('Enter');
    await page.locator('article.answer', { hasText: /\bword1\b/u }).waitFor();
    await box.fill('two');
    await box.press('Enter');
    await page.getByRole('button', { name: 'Withdraw: two' }).click();
    await page.getByRole('button', { name: 'Withdraw: two' }).waitFor({ state: 'detached' });
    await page.locator('article.answer', { hasText: 'word39' }).waitFor({ timeout: 60_000 });
    const { runs, dropped } = await site.ask('/v1/sessions/talk-2');
    expect([(runs as unknown[]).length, dropped]).toEqual([1, [expect.objectContaining({ reason: 'unsent' })]]);
  });
});
