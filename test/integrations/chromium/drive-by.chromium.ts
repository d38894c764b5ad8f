import { describe, expect, test } from 'vitest';
import { openPage, useBrowsers } from './support/browser.js';
import { attackFrom, useHostileSites } from './support/hostile-site.js';

const newBrowser = useBrowsers();
const newSite = useHostileSites();

describe('a web page in a real browser', () => {
  test('the attacks of these tests reach a server that refuses nothing, and read its answers', async () => {
    const [site, victim] = [await newSite(), await newSite()];
    const { page } = await openPage(await newBrowser(), site.url);
    const read = await attackFrom(page, [{ url: `${victim.url}attacked`, body: { task: 'x' } }]);
    expect(Object.values(read)).toEqual(['200 read', '200 read', '200 read']);
    const posts = victim.reached.filter(({ method }) => method === 'POST');
    expect(posts.map(({ type }) => type?.split(';')[0])).toEqual(
      expect.arrayContaining(['text/plain', 'application/json', 'text/plain', 'text/plain', 'text/plain', 'text/plain']),
    );
    expect(posts).toHaveLength(6);
    expect(posts.map(({ origin }) => origin)).toContain('null');
    expect(posts.every(({ body }) => JSON.parse(body).task === 'x')).toBe(true);
  });
});
