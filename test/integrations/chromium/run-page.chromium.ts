import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { useBrowsers } from './support/browser.js';
import { usePageSites } from './support/page-site.js';

const newBrowser = useBrowsers();
const newSite = usePageSites();

const WORDS = Array.from({ length: 60 }, (_, index) => `word${index}`).join(' ');
/** An answer that streams for nine seconds. */
const LONG = { text: WORDS, chunkDelayMs: 150 };

/** A tool whose calls a person must allow, and one that asks a person. */
const CONFIG = `import { defineConfig, defineTool } from 'perdure';
const refund = defineTool({
  name: 'refund', description: 'Refunds an order.', parameters: { type: 'object', properties: { order: { type: 'number' } } },
  effect: 'once', approval: 'always', execute: ({ order }) => 'order ' + order + ' is refunded',
});
export default defineConfig({
  model: 'scripted/script.json', tools: [refund],
  agents: { asking: { description: 'Asks.', prompt: 'Ask.', tools: ['ask_user', 'refund'] } },
});
`;

function refundOf(order: number): object {
  return { text: 'If you allow it.', toolCalls: [{ name: 'refund', args: { order } }] };
}

describe('the page of a run in a real browser', { timeout: 180_000 }, () => {
  test('A-29: the list leads to a run, whose text arrives while the model writes it', async () => {
    const site = await newSite({ steps: [LONG] });
    const runId = await site.start({ task: 'Count to sixty.' });
    const { page, errors, foreign } = await site.open(await newBrowser(), '/');
    await page.getByRole('link', { name: 'Count to sixty.' }).click();
    await page.getByRole('heading', { level: 1, name: 'Count to sixty.' }).waitFor();
    await untilAnswer(page, /\bword5\b/u);
    expect(await answersOf(page), 'the answer is in work').not.toEqual([WORDS]);
    await untilStatus(page, 'completed');
    await expect.poll(() => answersOf(page)).toEqual([WORDS]);
    expect(new URL(page.url()).pathname).toBe(`/runs/${runId}`);
    expect([errors, foreign]).toEqual([[], []]);
  });

  test('C-38: the gateway is killed in mid-answer and started again: the text is whole, without doubles', async () => {
    const site = await newSite({ steps: [LONG] });
    const { page, errors } = await site.open(await newBrowser(), `/runs/${await site.start()}`);
    await untilAnswer(page, /\bword5\b/u);
    await site.kill();
    await page.getByText('Connection lost').waitFor();
    await site.restart();
    await untilStatus(page, 'completed');
    await expect.poll(() => answersOf(page)).toEqual([WORDS]);
    expect(errors).toEqual([]);
    expect(await page.getByText('Connection lost').count()).toBe(0);
  });

  test('an edit is shown as a change of lines, thinking is folded, and a call shows its arguments and output', async () => {
    const edit = { path: 'notes.txt', oldText: 'one\ntwo', newText: 'one\nthree' };
    const site = await newSite({
      files: { 'notes.txt': 'one\ntwo\n' },
      args: ['--workspace', '.'],
      steps: [
        { thinking: 'I look first.', text: 'I **read** it.', toolCalls: [{ name: 'read_file', args: { path: 'notes.txt' } }] },
        { text: 'I edit it.', toolCalls: [{ name: 'edit_file', args: edit }] },
        { text: 'Done.' },
      ],
    });
    const runId = await site.start({ context: { workspace: site.folder.path } });
    const { page, errors } = await site.open(await newBrowser(), `/runs/${runId}`);
    await untilStatus(page, 'completed');
    expect(await readFile(join(site.folder.path, 'notes.txt'), 'utf8')).toBe('one\nthree\n');
    const change = page.getByRole('region', { name: 'notes.txt' });
    expect([await change.locator('del').allInnerTexts(), await change.locator('ins').allInnerTexts()]).toEqual([
      ['- two\n'],
      ['+ three\n'],
    ]);
    expect(await page.getByText('I look first.').isVisible()).toBe(false);
    await page.locator('summary:visible', { hasText: 'Thinking' }).click();
    await page.getByText('I look first.').waitFor();
    await page.locator('summary', { hasText: 'read_file' }).click();
    await page.getByRole('region', { name: 'Arguments' }).getByText('"path": "notes.txt"').waitFor();
    await page.getByRole('region', { name: 'Output' }).first().getByText('two').waitFor();
    await page.locator('strong', { hasText: 'read' }).waitFor();
    expect(errors).toEqual([]);
  });

  test('C10: a call is approved with the keyboard alone, a second one is denied with a reason, a question is answered', async () => {
    const answer = { text: 'The tool: {{lastToolResult}}.' };
    const ask = { toolCalls: [{ name: 'ask_user', args: { question: 'Which colour?', choices: ['red', 'blue'] } }] };
    const site = await newSite({ config: CONFIG, steps: [refundOf(7), refundOf(8), ask, answer] });
    const { page, errors } = await site.open(await newBrowser(), `/runs/${await site.start({ agent: 'asking' })}`);
    const approve = page.getByRole('button', { name: 'Approve' });
    await approve.waitFor();
    for (let presses = 0; !(await isFocused(page, 'Approve')) && presses < 60; presses += 1) await page.keyboard.press('Tab');
    expect(await isFocused(page, 'Approve')).toBe(true);
    await page.keyboard.press('Enter');
    await page.getByRole('article', { name: 'refund' }).getByText('"order": 8').waitFor();
    await page.getByLabel('Reason of a denial').fill('too much');
    await page.getByRole('button', { name: 'Deny' }).click();
    await page.getByText('Question of agent').waitFor();
    await page.getByLabel('blue').check();
    await page.getByRole('button', { name: 'Answer' }).click();
    await untilStatus(page, 'completed');
    await untilAnswer(page, /blue/u);
    const states = () => page.locator('.call').evaluateAll((calls) => calls.map((call) => call.getAttribute('data-state')));
    await expect.poll(states).toEqual(['ok', 'denied', 'ok']);
    expect(errors).toEqual([]);
  });

  test('A-31, A-34: a message is queued and delivered; the run is paused, resumed and cancelled', async () => {
    const slow = { text: WORDS, chunkDelayMs: 80, toolCalls: [{ name: 'refund', args: { order: 1 } }] };
    const site = await newSite({ config: CONFIG, steps: [slow, { text: 'You said: {{lastUser}}', chunkDelayMs: 20 }, LONG] });
    const { page, errors } = await site.open(await newBrowser(), `/runs/${await site.start()}`);
    await untilAnswer(page, /\bword3\b/u);
    await page.getByLabel('Message to the agent').fill('Use the blue one.');
    await page.keyboard.press('Enter');
    await page.getByText('1 message waits for delivery').waitFor();
    await page.getByRole('button', { name: 'Approve' }).click();
    await untilAnswer(page, /You said: Use the blue one\./u);
    await page.getByText('You, while it ran').waitFor();
    await untilStatus(page, 'completed');
    const second = await site.start();
    await page.goto(`${site.url}/runs/${second}`);
    await untilAnswer(page, /\bword3\b/u);
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await page.getByRole('button', { name: 'Cancel', exact: true }).click();
    await page.getByRole('button', { name: 'Cancel the run' }).click();
    await untilStatus(page, 'cancelled');
    await page.getByText('The run ended: cancelled.').waitFor();
    expect(await page.getByLabel('Message to the agent').isVisible()).toBe(false);
    expect(errors).toEqual([]);
  });
});

async function untilAnswer(page: Page, text: RegExp): Promise<void> {
  await page.locator('article.answer', { hasText: text }).first().waitFor({ timeout: 60_000 });
}

async function untilStatus(page: Page, status: string): Promise<void> {
  await page.locator('.head .badge', { hasText: status }).waitFor({ timeout: 90_000 });
}

/** The texts of the answers, in their order. */
async function answersOf(page: Page): Promise<string[]> {
  return await page.locator('article.answer > .markdown').allInnerTexts();
}

async function isFocused(page: Page, text: string): Promise<boolean> {
  return (await page.evaluate('document.activeElement?.textContent')) === text;
}
