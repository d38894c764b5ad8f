import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { ASKING_SERVER } from '../../activities/mcp/support/asking-desk.js';
import { seriousProblems } from './support/axe.js';
import { useBrowsers } from './support/browser.js';
import { usePageSites } from './support/page-site.js';

const newBrowser = useBrowsers();
const newSite = usePageSites();

/** An agent with the tools of an MCP server that asks the person of the run. */
const DESK = `export default {
  model: 'scripted/script.json',
  mcpServers: { desk: { command: process.execPath, args: [${JSON.stringify(ASKING_SERVER)}], elicitation: true } },
  agents: { desk: { description: 'Books.', prompt: 'Book.', mcp: ['desk'] } },
};
`;

/** Agents that delegate to each other. The last one waits for approval, so that all of them are at work. */
const TEAM = `import { defineConfig, defineTool } from 'perdure';
const publish = defineTool({
  name: 'publish', description: 'Publishes.', parameters: { type: 'object', properties: {} },
  effect: 'once', approval: 'always', execute: () => 'published',
});
const agent = (name, rest) => ({ description: name, prompt: name, model: 'scripted/' + name + '.json', ...rest });
export default defineConfig({
  tools: [publish],
  agents: {
    editor: agent('editor', { subagents: { agents: ['writer', 'checker'], depth: 2 } }),
    writer: agent('writer', { subagents: ['printer'] }),
    checker: agent('checker'),
    printer: agent('printer', { tools: ['publish'] }),
  },
});
`;

/** A run that keeps a plan. */
const PLANNED = `import { defineConfig, defineTool } from 'perdure';
const check = defineTool({
  name: 'check', description: 'Checks.', parameters: { type: 'object', properties: {} },
  effect: 'once', approval: 'always', execute: () => 'checked',
});
export default defineConfig({
  model: 'scripted/script.json', tools: [check],
  agents: { planner: { description: 'Plans.', prompt: 'Plan.', tools: ['check'], completion: { checks: ['plan-finished'] } } },
});
`;

const LONG_STEP = 'Compare the totals of all orders of the last quarter with those of the accounting, item by item';

function planned(done: number): object {
  const steps = ['Read <b>the</b> orders', LONG_STEP, 'Report'];
  const statusOf = (index: number): string => (index < done ? 'done' : index === done ? 'in_progress' : 'pending');
  return { name: 'update_plan', args: { steps: steps.map((step, index) => ({ step, status: statusOf(index) })) } };
}

function scriptOf(...steps: readonly object[]): string {
  return JSON.stringify({ steps });
}

function delegating(...agents: readonly string[]): object {
  return { text: 'I delegate.', toolCalls: agents.map((agent) => ({ name: 'delegate', args: { agent, task: `Work as ${agent}.` } })) };
}

describe('parts of the page of a run, in a real browser', { timeout: 180_000 }, () => {
  test('C10: the form of a question of an MCP server refuses what the server would, and its answer reaches the server', async () => {
    const site = await newSite({
      config: DESK,
      steps: [{ toolCalls: [{ name: 'desk_reserve', args: {} }] }, { text: '{{lastToolResult}}' }],
    });
    const { page, errors } = await site.open(await newBrowser(), `/runs/${await site.start({ agent: 'desk' })}`);
    const card = page.getByRole('article', { name: 'Question of MCP server desk' });
    await card.getByText('Who stays?', { exact: true }).waitFor();
    await card.getByText('some of 1. breakfast, 2. lunch, 3. dinner').waitFor();
    expect(await card.getByText('NAME=VALUE').count()).toBe(0);
    await lookAt(page, 'question');
    const send = card.getByRole('button', { name: 'Answer' });
    await card.getByLabel('nights').fill('31');
    await send.click();
    expect(await invalidFields(page), 'the browser refuses an empty name and 31 nights').toEqual(['name', 'nights']);
    await card.getByLabel('name').fill('A');
    await card.getByLabel('nights').fill('3');
    await send.click();
    await page.getByRole('alert').filter({ hasText: 'BAD_ANSWER' }).waitFor();
    await card.getByLabel('name').fill('Ada');
    await card.getByLabel('mail').fill('ada@example.com');
    await card.getByLabel('pets').check();
    await card.getByLabel('meals').selectOption(['breakfast', 'dinner']);
    await send.click();
    await untilStatus(page, 'completed');
    const content = { name: 'Ada', mail: 'ada@example.com', nights: 3, pets: true, meals: ['breakfast', 'dinner'] };
    const answer = await page.locator('article.answer > .markdown').last().innerText();
    expect(JSON.parse(/\{.*\}/u.exec(answer)?.[0] ?? '')).toEqual({ given: { action: 'accept', content } });
    expect(errors).toEqual([]);
  });

  test('C10: a form with one field answers with the value of the field', async () => {
    const site = await newSite({ config: DESK, steps: [{ toolCalls: [{ name: 'desk_rate', args: {} }] }, { text: '{{lastToolResult}}' }] });
    const { page, errors } = await site.open(await newBrowser(), `/runs/${await site.start({ agent: 'desk' })}`);
    await page.getByLabel('stars').fill('4');
    await page.getByLabel('stars').press('Enter');
    await untilStatus(page, 'completed');
    await page.locator('article.answer', { hasText: '"content":{"stars":4}' }).waitFor();
    expect(errors).toEqual([]);
  });

  test('a plan shows how far each step is, and changes with the run', async () => {
    const steps = [{ toolCalls: [planned(1), { name: 'check' }] }, { text: 'Nearly.', toolCalls: [planned(3)] }, { text: 'Done.' }];
    const site = await newSite({ config: PLANNED, steps });
    const { page, errors } = await site.open(await newBrowser(), `/runs/${await site.start({ agent: 'planner' })}`);
    const plan = page.getByRole('region', { name: /^Plan/u });
    const states = (): Promise<string[]> => plan.getByRole('img').evaluateAll((signs) => signs.map((sign) => sign.ariaLabel ?? ''));
    await plan.getByText(LONG_STEP).waitFor();
    await expect.poll(states).toEqual(['done', 'in progress', 'to do']);
    expect(await plan.getByRole('heading').innerText()).toBe('Plan 1 of 3');
    expect(await plan.getByRole('listitem').first().innerText()).toContain('Read <b>the</b> orders');
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    await lookAt(page, 'plan');
    await page.getByRole('button', { name: 'Approve' }).click();
    await untilStatus(page, 'completed');
    await expect.poll(states).toEqual(['done', 'done', 'done']);
    expect(errors).toEqual([]);
  });

  test('A-32: sub-agents are a tree: each leads to its run, shows its own below it, and how it ended', async () => {
    const files = {
      'editor.json': scriptOf(delegating('writer', 'checker'), { text: 'All is published.' }),
      'writer.json': scriptOf(delegating('printer'), { text: 'It is written.' }),
      'checker.json': scriptOf({ text: 'It is right.' }),
      'printer.json': scriptOf({ toolCalls: [{ name: 'publish' }] }, { text: 'It is printed.' }),
    };
    const site = await newSite({ config: TEAM, steps: [], files });
    const { page, errors } = await site.open(await newBrowser(), `/runs/${await site.start({ agent: 'editor' })}`);
    const tree = page.getByRole('region', { name: 'Sub-agents' });
    const rowOf = (agent: string) =>
      tree
        .getByRole('listitem')
        .filter({ has: page.getByRole('link', { name: agent, exact: true }) })
        .last();
    await rowOf('checker').getByText('completed', { exact: true }).waitFor();
    await rowOf('writer').getByText('running', { exact: true }).waitFor();
    await rowOf('writer').getByText('Its sub-agents').click();
    await rowOf('printer').waitFor();
    await lookAt(page, 'subagents');
    await rowOf('printer').getByRole('link', { name: 'printer' }).click();
    await page.getByRole('heading', { level: 1, name: 'Work as printer.' }).waitFor();
    await page.getByRole('button', { name: 'Approve' }).click();
    await untilStatus(page, 'completed');
    await page.goBack();
    await untilStatus(page, 'completed');
    await rowOf('writer').getByText('completed', { exact: true }).waitFor();
    expect(errors).toEqual([]);
  });
});

/** Checks a part on a screen and on a phone. */
async function lookAt(page: Page, name: string): Promise<void> {
  for (const width of [390, 1200]) {
    await page.setViewportSize({ width, height: 844 });
    const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    expect([name, width, overflow, await seriousProblems(page)]).toEqual([name, width, 0, []]);
  }
}

/** The names of the fields that the browser refuses. */
async function invalidFields(page: Page): Promise<string[]> {
  return await page
    .locator('.card :is(input, select):invalid')
    .evaluateAll((fields) => fields.map((field) => field.previousElementSibling?.textContent ?? ''));
}

async function untilStatus(page: Page, status: string): Promise<void> {
  await page.locator('.head .badge', { hasText: status }).waitFor({ timeout: 90_000 });
}
