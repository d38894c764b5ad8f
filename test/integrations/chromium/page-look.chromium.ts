import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { seriousProblems } from './support/axe.js';
import { useBrowsers } from './support/browser.js';
import { usePageSites } from './support/page-site.js';

const newBrowser = useBrowsers();
const newSite = usePageSites();

const WIDE = `| ${'column | '.repeat(12)}\n|${'---|'.repeat(12)}\n| ${'value | '.repeat(12)}\n\n\`\`\`\n${'x'.repeat(400)}\n\`\`\`\n\n${'long'.repeat(100)}`;

/** A tool that waits for approval, so that the page of the run has all its parts. */
const CONFIG = `import { defineConfig, defineTool } from 'perdure';
const deploy = defineTool({
  name: 'deploy', description: 'Deploys.', parameters: { type: 'object', properties: { to: { type: 'string' } } },
  effect: 'once', approval: 'always', execute: () => 'deployed',
});
export default defineConfig({ model: 'scripted/script.json', tools: [deploy] });
`;

describe('how the page looks, in a real browser', { timeout: 180_000 }, () => {
  for (const colorScheme of ['light', 'dark'] as const) {
    test(`axe-core finds nothing serious on the three pages, ${colorScheme}; on a phone nothing is wider than the screen`, async () => {
      const site = await newSite({
        config: CONFIG,
        steps: [{ thinking: 'x', text: WIDE, toolCalls: [{ name: 'deploy', args: { to: 'y'.repeat(300) } }] }],
      });
      const runId = await site.start({ task: `Deploy ${'it'.repeat(60)}`, maxTokens: 100_000 });
      await site.ask('/v1/sessions/look/messages', { text: 'Deploy.' });
      const { page, errors } = await site.open(await newBrowser(), '/');
      await page.emulateMedia({ colorScheme });
      await page.getByRole('link', { name: 'look', exact: true }).waitFor();
      await check(page, colorScheme);
      await page.goto(`${site.url}/runs/${runId}`);
      await page.getByRole('button', { name: 'Approve' }).waitFor();
      await check(page, colorScheme);
      await page.goto(`${site.url}/sessions/look`);
      await page.getByRole('button', { name: 'Approve' }).waitFor();
      await check(page, colorScheme);
      expect(errors).toEqual([]);
    });
  }

  test('the page takes input before the first answer of the gateway, after its document, one script and one style', async () => {
    const site = await newSite({ steps: [{ text: 'x' }] });
    const { page } = await site.open(await newBrowser(), '/');
    await page.getByRole('button', { name: 'Start' }).waitFor();
    // no answer comes
    await page.route('**/v1/**', () => undefined);
    const loaded: string[] = [];
    page.on('request', (request) => loaded.push(request.resourceType()));
    await page.reload({ waitUntil: 'commit' });
    await page.getByLabel('Task').fill('Count.');
    expect(await page.getByRole('button', { name: 'Start' }).isEnabled()).toBe(true);
    // the icon is of type `other`
    expect(loaded.filter((type) => type !== 'fetch' && type !== 'other').toSorted()).toEqual(['document', 'script', 'stylesheet']);
  });
});

async function check(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  for (const width of [1200, 390]) {
    await page.setViewportSize({ width, height: 844 });
    expect([page.url(), width, await seriousProblems(page)]).toEqual([page.url(), width, []]);
    const overflow = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    expect([page.url(), width, overflow]).toEqual([page.url(), width, 0]);
  }
  const background = await page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
  expect(background).toBe(colorScheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(13, 17, 23)');
}
