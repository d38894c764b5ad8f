import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { usePageSites } from './support/page-site.js';
import { useTabbedBrowsers } from './support/tabbed-browser.js';

const newBrowser = useTabbedBrowsers();
const newSite = usePageSites();

/** A browser opens six connections to a server of HTTP/1.1, for all tabs together. */
const TABS = 7;

/** A tool that returns once the file `go` is there. */
const CONFIG = `import { existsSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { defineConfig, defineTool } from 'perdure';
const wait = defineTool({
  name: 'wait', description: 'Waits.', parameters: { type: 'object', properties: {} }, effect: 'read',
  async execute(_, { signal }) {
    while (!existsSync('go')) await setTimeout(50, undefined, { signal });
    return 'it is there';
  },
});
export default defineConfig({ model: 'scripted/script.json', tools: [wait] });
`;

describe('many tabs of one browser', { timeout: 180_000 }, () => {
  test(`C-38: ${TABS} tabs follow one run: a hidden one holds no connection, and resumes where it was once it is shown`, async () => {
    const site = await newSite({ config: CONFIG, steps: [{ text: 'I wait.', toolCalls: [{ name: 'wait' }] }, { text: 'It is done.' }] });
    const path = `/runs/${await site.start()}`;
    const browser = await newBrowser();
    const tabs = [];
    for (let tab = 0; tab < TABS; tab += 1) {
      const opened = await site.open(browser, path);
      await opened.page.locator('article.answer', { hasText: 'I wait.' }).waitFor();
      tabs.push(opened);
    }
    const states = await Promise.all(tabs.map(({ page }) => page.evaluate<string>('document.visibilityState')));
    expect(states).toEqual(tabs.map((_, tab) => (tab === TABS - 1 ? 'visible' : 'hidden')));
    await writeFile(join(site.folder.path, 'go'), '');
    await tabs.at(-1)?.page.locator('.head .badge', { hasText: 'completed' }).waitFor();
    const answers = await Promise.all(tabs.map(({ page }) => answersOf(page)));
    expect(answers, 'hidden tabs receive nothing').toEqual(
      tabs.map((_, tab) => (tab === TABS - 1 ? ['I wait.', 'It is done.'] : ['I wait.'])),
    );
    for (const { page, errors } of tabs) {
      await page.bringToFront();
      await page.locator('.head .badge', { hasText: 'completed' }).waitFor();
      await expect.poll(() => answersOf(page)).toEqual(['I wait.', 'It is done.']);
      expect([await page.getByText('Connection lost').count(), errors]).toEqual([0, []]);
    }
  });
});

async function answersOf(page: Page): Promise<string[]> {
  return await page.locator('article.answer > .markdown').allInnerTexts();
}
