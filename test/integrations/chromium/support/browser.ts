import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type BrowserContext, chromium, type Page } from 'playwright-core';
import { afterEach } from 'vitest';

const PROGRAMS = ['chromium', 'chromium-browser', 'google-chrome'];

/** How long a page may take to show what a test waits for, on a slow machine. */
const WAIT_MS_MAX = 60_000;

/** A quiet browser: it asks no server of its maker for anything. */
const FLAGS = [
  '--disable-gpu',
  '--disable-quic',
  '--disable-sync',
  '--disable-background-networking',
  '--disable-component-update',
  '--no-first-run',
];

/** What a test says of its browser. */
export interface BrowserOptions {
  /** Names that lead to addresses of the loopback. Every other name leads nowhere. @default none */
  readonly hosts?: Readonly<Record<string, string>>;
  /** Further flags of the program. @default none */
  readonly flags?: readonly string[];
}

/**
 * Starts real browsers for tests, each with an empty profile; they are gone after the test. Fails if the program is missing: there is no
 * other way to run these tests.
 */
export function useBrowsers(): (options?: BrowserOptions) => Promise<BrowserContext> {
  const opened: BrowserContext[] = [];
  const profiles: string[] = [];
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((browser) => browser.close()));
    await Promise.all(profiles.splice(0).map((profile) => rm(profile, { recursive: true, force: true })));
  });
  return async ({ hosts = {}, flags = [] } = {}) => {
    const profile = await newProfile();
    profiles.push(profile);
    const browser = await chromium.launchPersistentContext(profile, {
      executablePath: findProgram(),
      // it refuses its own sandbox to root
      chromiumSandbox: process.getuid?.() !== 0,
      args: [...quietFlags(hosts), ...flags],
    });
    browser.setDefaultTimeout(WAIT_MS_MAX);
    opened.push(browser);
    return browser;
  };
}

/** Opens a page, and notes the errors of its scripts. */
export async function openPage(browser: BrowserContext, url: string): Promise<{ page: Page; errors: readonly string[] }> {
  const page = await browser.newPage();
  const errors: string[] = [];
  page.on('pageerror', ({ message }) => errors.push(message));
  await page.goto(url, { waitUntil: 'domcontentloaded' });
  return { page, errors };
}

/** A folder for the profile of a browser. */
export async function newProfile(): Promise<string> {
  return await mkdtemp(join(tmpdir(), 'perdure-browser-'));
}

/** Flags of a browser that reaches the loopback alone. `hosts`: names that lead to addresses of it. */
export function quietFlags(hosts: NonNullable<BrowserOptions['hosts']> = {}): readonly string[] {
  const named = Object.entries(hosts).map(([name, address]) => `MAP ${name} ${address}`);
  const rules = [...named, 'MAP * ~NOTFOUND', 'EXCLUDE localhost', 'EXCLUDE 127.*'];
  return [...FLAGS, `--host-resolver-rules=${rules.join(', ')}`];
}

/** The program in PATH. Throws if there is none. */
export function findProgram(): string {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const found = folders.flatMap((folder) => PROGRAMS.map((name) => join(folder, name))).find(isProgram);
  if (found === undefined) throw new Error('chromium is not in PATH; install it with: apt-get install chromium');
  return found;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // not there
    return false;
  }
}
