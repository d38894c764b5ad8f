import { describe, expect, it } from 'vitest';
import { PAGE_POLICY, readPageFiles } from '../../../src/gateway/page/page-files.js';
import { say } from '../../support/agent-worker.js';
import { TOKEN, useGateways } from './support/use-gateways.js';

const gateways = useGateways();

/** The limit of DESIGN for all that a browser loads. */
const BYTES_MAX = 150_000;

describe('the page of the gateway', () => {
  it('is one document without data for all its addresses, and needs no token', async () => {
    const place = await gateways.place({ model: () => say('the secret answer') });
    const { url, client } = await place.gateway();
    const runId = await client.start({ task: 'the secret task' });
    await client.events(runId);
    const pages = await Promise.all(['/', `/runs/${runId}`, '/runs/no%2Fsuch', '/sessions/nothing'].map((path) => fetch(url + path)));
    expect(pages.map(({ status, headers }) => [status, headers.get('content-type')])).toEqual(
      pages.map(() => [200, 'text/html; charset=utf-8']),
    );
    const texts = await Promise.all(pages.map((page) => page.text()));
    expect(new Set(texts).size).toBe(1);
    expect(texts[0]).toMatch(/^<!doctype html>/u);
    expect(texts[0]).not.toMatch(/secret/u);
    expect(texts[0]).not.toContain(TOKEN);
  });

  it('X14: lets only its own files in: no inline script or style, no other host, no frame, no markup from text', async () => {
    const place = await gateways.place({ model: () => say('done') });
    const { url } = await place.gateway();
    const response = await fetch(url);
    expect(response.headers.get('content-security-policy')).toBe(PAGE_POLICY);
    expect(PAGE_POLICY.split('; ').filter((rule) => !/ (?:'none'|'self'|'script')$/u.test(rule))).toEqual([]);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'cross-origin-opener-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    });
    const text = await response.text();
    expect(text).not.toMatch(/<style|style=|\son\w+=|<script(?![^>]* src=)/u);
    expect([...text.matchAll(/(?:src|href)="(?<address>[^"]+)"/gu)].map(({ groups }) => groups?.['address'])).toEqual([
      expect.stringMatching(/^\/assets\/icon-[0-9a-f]{12}\.svg$/u),
      expect.stringMatching(/^\/assets\/page-[0-9a-f]{12}\.css$/u),
      expect.stringMatching(/^\/assets\/page-[0-9a-f]{12}\.js$/u),
    ]);
  });

  it('serves the files that it names, which browsers keep, and refuses every other name', async () => {
    const place = await gateways.place({ model: () => say('done') });
    const { url } = await place.gateway();
    for (const [name, { contentType, bytes }] of (await readPageFiles()).assets) {
      const response = await fetch(`${url}/assets/${name}`);
      expect([name, response.status, response.headers.get('content-type')]).toEqual([name, 200, contentType]);
      expect(response.headers.get('cache-control')).toContain('immutable');
      expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
    }
    for (const name of ['page.js', 'page-000000000000.js', '..%2Fpage-files.js', '..%2F..%2F..%2Fpackage.json', '%00']) {
      const response = await fetch(`${url}/assets/${name}`);
      expect([name, response.status, await response.json()]).toMatchObject([name, 404, { error: { code: 'NOT_FOUND' } }]);
    }
  });

  it(`has at most ${BYTES_MAX} bytes in all`, async () => {
    const { shell, assets } = await readPageFiles();
    const bytes = [shell, ...assets.values()].map((file) => file.bytes.length);
    expect(bytes.every((count) => count > 200)).toBe(true);
    expect(bytes.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(BYTES_MAX);
  });
});
