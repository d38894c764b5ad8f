import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { BrowserContext, Page } from 'playwright-core';
import { afterEach } from 'vitest';

const PAGE = fileURLToPath(new URL('../fixtures/hostile.html', import.meta.url));

/** What a page of a hostile site tries at a server. */
export interface Attack {
  readonly url: string;
  /** The JSON of a request. */
  readonly body: unknown;
}

/** A request that reached the site itself. */
export interface Reached {
  readonly method: string | undefined;
  readonly type: string | undefined;
  readonly origin: string | undefined;
  readonly body: string;
}

/** A site of a stranger, on a port of its own. It answers every request, and allows every origin to read. */
export interface HostileSite {
  readonly url: string;
  readonly reached: readonly Reached[];
}

/** Starts hostile sites for tests; they are gone after the test. */
export function useHostileSites(): () => Promise<HostileSite> {
  const stops: (() => void)[] = [];
  afterEach(() => {
    for (const stop of stops.splice(0)) stop();
  });
  return async () => {
    const reached: Reached[] = [];
    const html = await readFile(PAGE);
    const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const { method, url, headers } = request;
      const body = Buffer.concat(await request.toArray()).toString();
      if (url === '/attacked') reached.push({ method, type: headers['content-type'], origin: headers.origin, body });
      const allowed = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' };
      response.writeHead(200, { 'content-type': 'text/html', ...allowed }).end(url === '/' ? html : 'read');
    };
    const server = createServer((request, response) => void answer(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    stops.push(() => {
      server.close();
      server.closeAllConnections();
    });
    // a TCP server has an address of this kind
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, reached };
  };
}

/** Tries an attack from a page in every way, and returns what the page could read, by way. */
export async function attackFrom(page: Page, { url, body }: Attack): Promise<Record<string, string>> {
  return await page.evaluate(`attack(${JSON.stringify(url)}, ${JSON.stringify(JSON.stringify(body))})`);
}

/**
 * Opens the page under a name at the address of another server: what a browser has when the name of a site, which led to the site, leads
 * to that server now (DNS rebinding). Only the document comes from the site.
 */
export async function openRebound(browser: BrowserContext, url: string): Promise<Page> {
  const page = await browser.newPage();
  const html = await readFile(PAGE, 'utf8');
  await page.route(url, (route) => route.fulfill({ contentType: 'text/html', body: html }), { times: 1 });
  await page.goto(url);
  return page;
}
