import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BrowserContext, Page } from 'playwright-core';
import { afterEach } from 'vitest';
import { CliFolder, type Command } from '../../../cli/support/cli.js';
import { freePort } from '../../../support/free-port.js';
import { openPage } from './browser.js';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

/** A gateway with its page, in a folder of its own. */
export interface PageSite {
  readonly url: string;
  readonly token: string;
  readonly folder: CliFolder;
  /** Sends a request with the token, and returns the JSON of the answer. */
  readonly ask: (path: string, body?: object) => Promise<Record<string, unknown>>;
  /** Starts a run and returns its id. */
  readonly start: (input?: object) => Promise<string>;
  /** Opens an address in a new tab, signed in. */
  readonly open: (browser: BrowserContext, path: string) => Promise<OpenedPage>;
  /** Kills the gateway, without a chance to say goodbye. */
  readonly kill: () => Promise<void>;
  /** Starts the gateway again, at its old address. */
  readonly restart: () => Promise<void>;
}

/** A tab, with what went wrong in it. */
export interface OpenedPage {
  readonly page: Page;
  /** Errors of scripts, and violations of the page's policy. */
  readonly errors: readonly string[];
  /** Addresses that the tab requested of other hosts. */
  readonly foreign: readonly string[];
}

/** What a test says of its site. */
export interface PageSiteOptions {
  /** Answers of the model: steps of a script. */
  readonly steps: readonly object[];
  /** The module of the config. @default the script as the model */
  readonly config?: string;
  /** Further files of its folder, by their names. */
  readonly files?: Readonly<Record<string, string>>;
  /** Further arguments of `perdure serve`. */
  readonly args?: readonly string[];
}

const CONFIG = `export default { model: 'scripted/script.json' };\n`;

/** Starts sites, each in a folder of its own, with a worker that is a process of its own. They end after each test. */
export function usePageSites(): (options: PageSiteOptions) => Promise<PageSite> {
  const folders: CliFolder[] = [];
  afterEach(async () => {
    for (const folder of folders.splice(0)) await folder.remove();
  });
  return async (options) => {
    const folder = await CliFolder.make();
    folders.push(folder);
    return await startPageSite(folder, options);
  };
}

/** Starts a site in a folder. */
async function startPageSite(folder: CliFolder, { steps, config = CONFIG, files = {}, args = [] }: PageSiteOptions): Promise<PageSite> {
  await writeFile(join(folder.path, 'perdure.config.mjs'), config);
  await writeFile(join(folder.path, 'script.json'), JSON.stringify({ steps }));
  await mkdir(join(folder.path, 'node_modules'));
  await symlink(ROOT, join(folder.path, 'node_modules/perdure'));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder.path, name), text);
  await folder.start(['dev']).saw('worker running');
  const port = await freePort();
  const serve = async (): Promise<Command> => {
    const command = folder.start(['serve', '--port', String(port), '--no-worker', ...args]);
    await command.saw('gateway at ');
    return command;
  };
  let gateway = await serve();
  const url = `http://127.0.0.1:${port}`;
  const token = (await readFile(join(folder.path, '.perdure/gateway-token'), 'utf8')).trim();
  const ask = async (path: string, body?: object): Promise<Record<string, unknown>> => {
    const content = body ? { method: 'POST', body: JSON.stringify(body) } : {};
    const headers = { authorization: `Bearer ${token}`, ...(body ? { 'content-type': 'application/json' } : {}) };
    const response = await fetch(new URL(path, url), { ...content, headers });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    // what each route answers, the test knows
    return (await response.json()) as Record<string, unknown>;
  };
  return {
    url,
    token,
    folder,
    ask,
    start: async (input = {}) => String((await ask('/v1/runs', { task: 'Do it.', ...input }))['runId']),
    open: async (browser, path) => await openSignedIn(browser, { url, token }, path),
    kill: async () => {
      gateway.child.kill('SIGKILL');
      await gateway.ended;
    },
    restart: async () => {
      gateway = await serve();
    },
  };
}

async function openSignedIn(
  browser: BrowserContext,
  { url, token }: { readonly url: string; readonly token: string },
  path: string,
): Promise<OpenedPage> {
  const foreign: string[] = [];
  browser.on('request', (request) => {
    if (!request.url().startsWith(url)) foreign.push(request.url());
  });
  const { page, errors } = await openPage(browser, `${url}${path}`);
  const problems = errors as string[];
  page.on('console', (message) => {
    if (message.type() === 'error' && /Content Security Policy|TrustedHTML/iu.test(message.text())) problems.push(message.text());
  });
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  return { page, errors, foreign };
}
