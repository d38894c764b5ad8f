import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { openPage, useBrowsers } from './support/browser.js';
import { useChatSites } from './support/chat-site.js';

const newBrowser = useBrowsers();
const newSite = useChatSites();

const WORDS = Array.from({ length: 60 }, (_, index) => `word${index}`).join(' ');
/** An answer that streams for nine seconds. */
const LONG = { text: WORDS, chunkDelayMs: 150 };

/** An answer with a call that needs approval. */
function refundOf(order: number): object {
  return { text: 'If you allow it.', toolCalls: [{ name: 'refund', args: { order } }] };
}

describe('a useChat page of the AI SDK in a real browser', { timeout: 180_000 }, () => {
  test('A-29, U10: an answer streams; a reload in mid-answer and a second tab get the whole text, once', async () => {
    const site = await newSite({ steps: [LONG, { text: 'A second answer.' }], hasWorker: true });
    const browser = await newBrowser();
    const first = await openPage(browser, site.chat('tabs'));
    await send(first.page, 'Count.');
    await untilWord(first.page, 5);
    const second = await openPage(browser, site.chat('tabs'));
    await untilWord(second.page, 8);
    await first.page.reload();
    await untilWord(first.page, 12);
    expect(await answersOf(first.page), 'the answer is in work').not.toEqual([WORDS]);
    for (const { page } of [first, second]) {
      await untilDone(page, 'word59');
      expect([await messagesOf(page, 'user'), await answersOf(page)]).toEqual([['Count.'], [WORDS]]);
    }
    await send(first.page, 'Again.');
    await untilDone(first.page, 'A second answer.');
    await second.page.reload();
    await untilDone(second.page, 'A second answer.');
    for (const { page, errors } of [first, second]) {
      expect(await messagesOf(page, 'user')).toEqual(['Count.', 'Again.']);
      expect(await answersOf(page)).toEqual([WORDS, 'A second answer.']);
      expect(errors).toEqual([]);
    }
  });

  test('C10: a call that waits is approved on the page, and denied on it, also after a reload and at a gateway that was killed in between', async () => {
    const answer = { text: 'The tool: {{lastToolResult}}.' };
    const site = await newSite({ steps: [refundOf(7), answer, refundOf(8), answer], hasWorker: true });
    const browser = await newBrowser();
    const { page, errors } = await openPage(browser, site.chat('approvals'));
    await send(page, 'Refund 7.');
    await page.getByRole('button', { name: 'Approve' }).click();
    await untilDone(page, 'The tool: order 7 is refunded.');
    expect(await answersOf(page)).toEqual(['If you allow it. The tool: order 7 is refunded.']);
    await send(page, 'Refund 8.');
    await page.getByRole('button', { name: 'Deny' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Deny' }).waitFor();
    await site.kill();
    await site.restart();
    await page.getByRole('button', { name: 'Deny' }).click();
    await untilDone(page, 'The tool: denied');
    expect(await page.locator('section').evaluateAll((calls) => calls.map((each) => each.getAttribute('data-state')))).toEqual([
      'output-available',
      'output-denied',
    ]);
    expect(errors).toEqual([]);
  });

  for (const hasWorker of [true, false]) {
    const what = hasWorker ? 'gateway' : 'gateway with its worker';
    test(`C-38: the ${what} is killed in mid-answer and started again: both tabs have the whole text, without doubles`, async () => {
      const site = await newSite({ steps: [LONG], hasWorker });
      const browser = await newBrowser();
      const first = await openPage(browser, site.chat('killed'));
      await send(first.page, 'Count.');
      await untilWord(first.page, 5);
      const second = await openPage(browser, site.chat('killed'));
      await untilWord(second.page, 6);
      await site.kill();
      for (const { page } of [first, second]) await page.getByRole('status').getByText('error').waitFor();
      await site.restart();
      for (const { page, errors } of [first, second]) {
        await untilDone(page, 'word59');
        expect([await messagesOf(page, 'user'), await answersOf(page), errors]).toEqual([['Count.'], [WORDS], []]);
      }
    });
  }
});

async function send(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message').fill(text);
  await page.getByRole('button', { name: 'Send' }).click();
}

/** Waits until the page shows a word of the long answer. */
async function untilWord(page: Page, index: number): Promise<void> {
  await page.locator('article[data-role=assistant]', { hasText: new RegExp(`\\bword${index}\\b`, 'u') }).waitFor({ timeout: 60_000 });
}

/** Waits until the page shows a text, and no answer is in work. */
async function untilDone(page: Page, text: string): Promise<void> {
  await page.locator('article[data-role=assistant]', { hasText: text }).last().waitFor({ timeout: 90_000 });
  await page.getByRole('status').getByText('ready').waitFor({ timeout: 60_000 });
}

/** The texts of the messages of a role, in their order. */
async function messagesOf(page: Page, role: string): Promise<string[]> {
  return await page
    .locator(`article[data-role=${role}]`)
    .evaluateAll((messages) => messages.map((message) => [...message.querySelectorAll('p')].map((each) => each.textContent).join(' ')));
}

async function answersOf(page: Page): Promise<string[]> {
  return await messagesOf(page, 'assistant');
}
