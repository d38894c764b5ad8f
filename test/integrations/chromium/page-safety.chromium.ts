import { describe, expect, test } from 'vitest';
import { useBrowsers } from './support/browser.js';
import { usePageSites } from './support/page-site.js';

const newBrowser = useBrowsers();
const newSite = usePageSites();

/** Text that marks the window if any of it runs, and requests a foreign host if any of it is loaded. */
const HOSTILE = [
  '<script>window.hacked=1</script>',
  '<img src="https://evil.example/a.png" onerror="window.hacked=1">',
  '<svg onload="window.hacked=1"></svg>',
  '<iframe srcdoc="<script>parent.hacked=1</script>"></iframe>',
  '<style>@import "https://evil.example/b.css"</style>',
  '![x](https://evil.example/c.png)',
  '[click](javascript:window.hacked=1)',
  '<a href="javascript:window.hacked=1">link</a>',
  '" onmouseover="window.hacked=1" x="',
  "'});window.hacked=1;//",
].join('\n\n');

/** What a defect of the page could do, tried in the page. */
const MISTAKES = `(async () => {
  const script = document.createElement('script');
  script.append('window.hacked = 1');
  try { document.head.append(script); } catch { /* the policy may refuse it here already */ }
  const inline = 'hacked' in window ? 'ran' : 'stopped';
  let markup = 'made';
  try { document.body.insertAdjacentHTML('beforeend', '<b>x</b>'); } catch { markup = 'stopped'; }
  const request = await fetch('https://evil.example/').then(() => 'sent', () => 'stopped');
  return { inline, markup, request };
})()`;

/** A tool with a hostile output, one with a hostile error, and one that waits for approval under a hostile title. */
const CONFIG = `import { defineConfig, defineTool } from 'perdure';
const any = { type: 'object', additionalProperties: true };
const tool = (name, execute, approval) => defineTool({ name, description: 'A tool.', parameters: any, effect: 'once', execute, approval });
const HOSTILE = ${JSON.stringify(HOSTILE)};
export default defineConfig({
  model: 'scripted/script.json',
  tools: [tool('output', () => HOSTILE, 'never'), tool('error', () => { throw new Error(HOSTILE); }, 'never'), tool('asking', () => 'x', 'always')],
});
`;

describe('hostile text on the page, in a real browser', { timeout: 180_000 }, () => {
  test('X20: no text of a task, model, tool, file name, error or session runs a script or reaches another host', async () => {
    const site = await newSite({
      config: CONFIG,
      steps: [
        {
          thinking: HOSTILE,
          text: HOSTILE,
          toolCalls: [
            { name: 'output', args: { value: HOSTILE } },
            { name: 'error', args: {} },
          ],
        },
        {
          text: HOSTILE,
          toolCalls: [
            { name: '<img src=x onerror=window.hacked=1>', args: { path: HOSTILE } },
            { name: 'edit_file', args: { path: HOSTILE, oldText: HOSTILE, newText: `${HOSTILE}x` } },
          ],
        },
        { text: HOSTILE, toolCalls: [{ name: 'asking', args: { command: HOSTILE } }] },
        { fault: { status: 400, message: HOSTILE, times: 99 } },
      ],
    });
    const runId = await site.start({ task: HOSTILE });
    const { page, errors, foreign } = await site.open(await newBrowser(), `/runs/${runId}`);
    await page.getByRole('button', { name: 'Approve' }).waitFor({ timeout: 90_000 });
    await page.getByLabel('Message to the agent').fill(HOSTILE);
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText('The run failed').waitFor({ timeout: 90_000 });
    // everything that is folded is shown too
    for (const summary of await page.locator('summary:visible').all()) await summary.click();
    for (const link of await page.locator('main a').all()) expect(await link.getAttribute('href')).toMatch(/^(?:https:\/\/|\/)/u);
    const lists = await site.open(await newBrowser(), '/');
    await lists.page.getByText('window.hacked').first().waitFor();
    const session = await site.open(await newBrowser(), `/sessions/${encodeURIComponent(HOSTILE)}`);
    await session.page.getByRole('heading', { level: 1 }).waitFor();
    for (const tab of [page, lists.page, session.page]) {
      expect(await tab.evaluate(`'hacked' in window`)).toBe(false);
      expect(
        await tab.locator('script:not([src]), iframe, img, svg, style, object, embed, [onerror], [onload], [onmouseover]').count(),
      ).toBe(0);
    }
    expect([errors, foreign, lists.errors, lists.foreign, session.errors, session.foreign]).toEqual([[], [], [], [], [], []]);
  });

  test('X20: a person who approves sees invisible characters of arguments and changes as escape sequences', async () => {
    const site = await newSite({
      config: CONFIG,
      steps: [
        { toolCalls: [{ name: 'edit_file', args: { path: 'a\u200Bb', oldText: 'x', newText: 'if (\u2067admin\u2069)' } }] },
        { toolCalls: [{ name: 'asking', args: { line: 'rm \u202Egpj.a\u202C' } }] },
      ],
    });
    const { page, errors } = await site.open(await newBrowser(), `/runs/${await site.start()}`);
    const card = page.locator('article.card');
    await card.getByRole('region', { name: 'Arguments' }).waitFor({ timeout: 90_000 });
    expect(await card.innerText()).toContain(String.raw`rm \u202egpj.a\u202c`);
    const change = page.getByRole('region', { name: String.raw`a\u200bb` });
    expect(await change.locator('ins').innerText()).toContain(String.raw`+ if (\u2067admin\u2069)`);
    expect(await page.locator('main').innerText()).not.toMatch(/[\u200B\u202A-\u202E\u2066-\u2069]/u);
    expect(errors).toEqual([]);
  });

  test('X20: the policy stops what a mistake of the page would let in: inline scripts, markup from text, other hosts', async () => {
    const site = await newSite({ steps: [{ text: 'x' }] });
    const { page, foreign } = await site.open(await newBrowser(), '/');
    const outcomes = await page.evaluate(MISTAKES);
    expect(outcomes).toEqual({ inline: 'stopped', markup: 'stopped', request: 'stopped' });
    expect(foreign).toEqual([]);
  });

  test('a token that the gateway does not know is refused, and a known one is not kept beyond its tab', async () => {
    const site = await newSite({ steps: [{ text: 'x' }] });
    const browser = await newBrowser();
    const { page } = await site.open(browser, '/');
    const other = await browser.newPage();
    await other.goto(site.url);
    await other.getByLabel('Token').fill('wrong');
    await other.getByRole('button', { name: 'Sign in' }).click();
    await other.getByRole('alert').getByText('UNAUTHORIZED').waitFor();
    expect(await page.evaluate('[localStorage.length, document.cookie]')).toEqual([0, '']);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').waitFor();
  });
});
