import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { useBrowsers } from './support/browser.js';
import { usePageSites } from './support/page-site.js';

const PICTURES = fileURLToPath(new URL('../../../docs/pictures/', import.meta.url));

const newBrowser = useBrowsers();
const newSite = usePageSites();

/** An agent that fixes a bug, delegates a review, and asks before it deploys. */
const CONFIG = `import { defineConfig, defineTool } from 'perdure';
const deploy = defineTool({
  name: 'deploy', description: 'Deploys a version.', parameters: { type: 'object', properties: { version: { type: 'string' }, to: { type: 'string' } } },
  effect: 'once', approval: 'always', execute: ({ version, to }) => version + ' is live in ' + to,
});
export default defineConfig({
  model: 'scripted/script.json',
  tools: [deploy],
  agents: {
    developer: {
      description: 'Fixes bugs.', prompt: 'Fix the bug.', subagents: ['reviewer'],
      tools: ['read_file', 'edit_file', 'deploy'], completion: { checks: ['plan-finished'] },
    },
    reviewer: { description: 'Reviews changes.', prompt: 'Review.', model: 'scripted/review.json' },
  },
});
`;

const BEFORE = `export function total(items) {\n  let sum = 0;\n  for (const item of items) {\n    sum += item.price;\n  }\n  return sum;\n}\n`;

/** The plan with so many steps done. */
function planned(done: number): object {
  const steps = ['Read the code', 'Count the quantity of each item', 'Have the change reviewed', 'Deploy to staging'];
  const status = (index: number): string => (index < done ? 'done' : index === done ? 'in_progress' : 'pending');
  return { name: 'update_plan', args: { steps: steps.map((step, index) => ({ step, status: status(index) })) } };
}

const STEPS = [
  {
    thinking: 'The total ignores the quantity. I read the function first.',
    text: 'I read the function before I change it.',
    toolCalls: [planned(0), { name: 'read_file', args: { path: 'total.js' } }],
  },
  {
    text: 'Each item counts once, **whatever its quantity**. I multiply the price:',
    toolCalls: [
      planned(1),
      {
        name: 'edit_file',
        args: { path: 'total.js', oldText: '    sum += item.price;', newText: '    sum += item.price * item.quantity;' },
      },
    ],
  },
  {
    text: 'The reviewer checks the change.',
    toolCalls: [planned(2), { name: 'delegate', args: { agent: 'reviewer', task: 'Review total.js.' } }],
  },
  {
    text: 'The review found nothing. The order with two items now costs:\n\n| item | price | quantity | sum |\n|---|---|---|---|\n| tea | 4.00 | 3 | 12.00 |\n| cup | 9.50 | 2 | 19.00 |',
    toolCalls: [planned(3), { name: 'deploy', args: { version: '2.4.1', to: 'staging' } }],
  },
];

test('the pictures of the page: its lists, a run in light and dark, a phone, a conversation, a reached limit', {
  timeout: 300_000,
}, async () => {
  const site = await newSite({
    config: CONFIG,
    steps: STEPS,
    files: {
      'total.js': BEFORE,
      'review.json': JSON.stringify({ steps: [{ text: 'The change is right, and the tests pass.' }], loop: true }),
    },
    args: ['--workspace', '.'],
  });
  const context = { workspace: site.folder.path };
  const options = { agent: 'developer', maxTurns: 12, maxTokens: 60_000 };
  const runId = await site.start({
    task: 'The total of an order is wrong when an item has a quantity. Fix it and deploy to staging.',
    context,
    ...options,
  });
  for (const task of ['Summarise the open support tickets.', 'Review the changes in total.js.'])
    await site.start({ task, agent: 'reviewer' });
  await site.ask('/v1/sessions/support-4711/messages', { text: 'Is the change for order totals reviewed?', agent: 'reviewer' });
  const { page } = await site.open(await newBrowser(), `/runs/${runId}`);
  await page.getByRole('button', { name: 'Approve' }).waitFor({ timeout: 120_000 });
  await page.getByRole('heading', { name: 'Sub-agents' }).waitFor();
  await take(page, 'run-light', { width: 1200, height: 900 });
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.evaluate('document.documentElement.scrollTop = 0');
  await take(page, 'run-dark', { width: 1200, height: 900 });
  await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize({ width: 390, height: 844 });
  await page.evaluate('document.documentElement.scrollTop = document.documentElement.scrollHeight');
  await take(page, 'run-phone', { width: 390, height: 844 });
  await page.goto(site.url);
  await page.getByRole('link', { name: 'support-4711', exact: true }).waitFor();
  await page.getByRole('link', { name: /Summarise/u }).waitFor();
  await take(page, 'lists', { width: 1200, height: 700 });
  await page.goto(`${site.url}/sessions/support-4711`);
  await page.locator('article.answer', { hasText: 'tests pass' }).waitFor();
  await take(page, 'session', { width: 1000, height: 560 });
  expect(await page.title()).toContain('support-4711');
  const limited = await site.start({ task: 'Fix the total of an order.', context, ...options, maxTurns: 2, onBudget: 'ask' });
  await page.goto(`${site.url}/runs/${limited}`);
  const card = page.getByRole('article', { name: 'Limit reached' });
  await card.waitFor({ timeout: 60_000 });
  await page.setViewportSize({ width: 1000, height: 900 });
  await card.screenshot({ path: join(PICTURES, 'limit.png'), animations: 'disabled', caret: 'hide' });
});

/** Takes a picture of what the page shows. Colours of a palette keep the file small. */
async function take(page: Page, name: string, size: { readonly width: number; readonly height: number }): Promise<void> {
  await page.setViewportSize(size);
  await page.screenshot({ path: join(PICTURES, `${name}.png`), animations: 'disabled', caret: 'hide' });
}
