import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { type BrowserContext, chromium } from 'playwright-core';
import { afterEach } from 'vitest';
import { until } from '../../../support/use-workers.js';
import { findProgram, newProfile, quietFlags } from './browser.js';

/**
 * Starts browsers in which only the tab in front is visible, as for a user. The driver makes every tab visible in the browsers that it starts,
 * so it is only connected to these. They are gone after the test.
 */
export function useTabbedBrowsers(): () => Promise<BrowserContext> {
  const started: { readonly child: ChildProcess; readonly profile: string }[] = [];
  afterEach(async () => {
    for (const { child, profile } of started.splice(0)) {
      const ended = once(child, 'exit');
      if (child.kill()) await ended;
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    }
  });
  return async () => {
    const profile = await newProfile();
    // the program refuses its own sandbox to root
    const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
    const flags = [...quietFlags(), ...sandbox, '--headless=new', '--remote-debugging-port=0', `--user-data-dir=${profile}`];
    const child = spawn(findProgram(), flags, { stdio: ['ignore', 'ignore', 'pipe'] });
    started.push({ child, profile });
    const endpoint = await endpointOf(child);
    // connecting while the browser makes its first tab has hung once
    await until(async () => (await targetsOf(endpoint)).some(({ type }) => type === 'page'), 'the first tab');
    const browser = await chromium.connectOverCDP(endpoint, { noDefaults: true });
    const [context] = browser.contexts();
    if (!context) throw new Error('chromium has no window');
    return context;
  };
}

/** The address at which a browser is driven. It writes it to stderr. */
async function endpointOf({ stderr }: ChildProcess): Promise<string> {
  return await new Promise((resolve, reject) => {
    let seen = '';
    stderr?.on('data', (chunk: Buffer) => {
      seen += chunk.toString();
      const [endpoint] = /ws:\/\/\S+(?=\s)/u.exec(seen) ?? [];
      if (endpoint !== undefined) resolve(endpoint);
    });
    stderr?.on('end', () => reject(new Error(`chromium did not start: ${seen}`)));
  });
}

/** What a browser has open. */
async function targetsOf(endpoint: string): Promise<{ readonly type: string }[]> {
  const response = await fetch(`http://${new URL(endpoint).host}/json/list`);
  return (await response.json()) as { readonly type: string }[];
}
