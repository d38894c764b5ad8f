import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { FETCH_LIMITS } from '../../../src/contracts/constants/limits.js';
import { createFetchUrl } from '../../../src/tools/fetch/fetch-url.js';
import { tempWorkspace } from '../support/temp-workspace.js';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** A server of the loopback, with its port. */
async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

async function fetched(
  url: string,
  { allow, signal }: { readonly allow?: readonly string[]; readonly signal?: AbortSignal } = {},
): Promise<string> {
  const tool = createFetchUrl(allow === undefined ? {} : { allow: [...allow] });
  const workspace = await tempWorkspace();
  const text = await tool.execute({ url }, workspace.context(signal === undefined ? {} : { signal }));
  if (typeof text !== 'string') throw new Error('no text');
  return text;
}

const page = (type: string, body: string | Buffer, headers: Record<string, string> = {}): RequestListener =>
  function answer(_request, response) {
    response.writeHead(200, { 'content-type': type, ...headers }).end(body);
  };

const HTML = `<!doctype html><html><head><title>Plan &amp; price</title><style>p{}</style></head><body>
<nav><a href="/">Home</a></nav><script>alert(1)</script>
<main><h1>Prices</h1><p>See <a href="/terms?a=1">the terms</a>.</p><ul><li>one</li><li>two</li></ul>
<table><tr><th>plan</th><th>price</th></tr><tr><td>Small</td><td>5</td></tr></table></main><footer>(c)</footer></body></html>`;

describe('fetch_url', () => {
  it('reads a page as text: title, headings, links, lists and tables, without navigation and scripts', async () => {
    const port = await serve(page('text/html; charset=utf-8', HTML));
    const text = await fetched(`http://127.0.0.1:${port}/prices`, { allow: [`127.0.0.1:${port}`] });
    expect(text).toContain(`http://127.0.0.1:${port}/prices, status 200\n\nPlan`);
    expect(text).toContain(`See the terms [http://127.0.0.1:${port}/terms?a=1].`);
    expect(text).toMatch(/Prices[\s\S]*\* one\n\s*\* two[\s\S]*plan +price\nSmall +5/u);
    expect(text).not.toMatch(/alert|Home|\(c\)|<\w/u);
  });

  it('reads JSON and other text as they are, in their charset, and decompresses', async () => {
    const json = await serve(page('application/json', gzipSync('{"a":1}'), { 'content-encoding': 'gzip' }));
    expect(await fetched(`http://127.0.0.1:${json}/`, { allow: [`127.0.0.1:${json}`] })).toMatch(/\n\n\{"a":1\}$/u);
    const latin = await serve(page('text/plain; charset=iso-8859-1', Buffer.from([0x67, 0x72, 0xfc, 0x6e])));
    expect(await fetched(`http://127.0.0.1:${latin}/`, { allow: [`127.0.0.1:${latin}`] })).toMatch(/grün$/u);
  });

  it('follows redirects, each checked anew', async () => {
    const target = await serve(page('text/plain', 'there'));
    const hop = await serve((_request, response) => response.writeHead(302, { location: `http://127.0.0.1:${target}/x` }).end());
    const allow = [`127.0.0.1:${hop}`, `127.0.0.1:${target}`];
    expect(await fetched(`http://127.0.0.1:${hop}/`, { allow })).toMatch(new RegExp(`:${target}/x, status 200\\n\\nthere$`, 'u'));
    await expect(fetched(`http://127.0.0.1:${hop}/`, { allow: [`127.0.0.1:${hop}`] })).rejects.toThrow(/^PRIVATE_ADDRESS: 127\.0\.0\.1 /u);
    const circle: number = await serve((_request, response) => response.writeHead(307, { location: '/again' }).end());
    await expect(fetched(`http://127.0.0.1:${circle}/`, { allow: [`127.0.0.1:${circle}`] })).rejects.toThrow(
      /^TOO_MANY_REDIRECTS: more than 5/u,
    );
    const odd = await serve((_request, response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end());
    await expect(fetched(`http://127.0.0.1:${odd}/`, { allow: [`127.0.0.1:${odd}`] })).rejects.toThrow(/^BAD_URL: file: is not supported/u);
  });

  it.each([
    ['http://127.0.0.1:PORT/', 'a loopback address'],
    ['http://2130706433:PORT/', 'as one number'],
    ['http://0x7f000001:PORT/', 'in hex'],
    ['http://0177.0.0.1:PORT/', 'in octal'],
    ['http://127.1:PORT/', 'short'],
    ['http://0:PORT/', 'zero'],
    ['http://[::1]:PORT/', 'IPv6'],
    ['http://[::ffff:127.0.0.1]:PORT/', 'mapped'],
    ['http://[::ffff:7f00:1]:PORT/', 'mapped, in hex'],
    ['http://[64:ff9b::7f00:1]:PORT/', 'translated'],
    ['http://localhost:PORT/', 'by its name'],
    ['http://LOCALHOST:PORT/', 'in capitals'],
    ['http://①②⑦.0.0.1:PORT/', 'in other digits'],
    ['http://169.254.169.254/latest/meta-data/', 'the metadata of a cloud'],
    ['http://10.0.0.1/', 'a private network'],
  ])('X14: %s (%s) is refused before anything is sent', async (url) => {
    let asked = 0;
    const port = await serve((_request, response) => {
      asked += 1;
      response.end('secret');
    });
    await expect(fetched(url.replace('PORT', String(port)))).rejects.toThrow(/^PRIVATE_ADDRESS: /u);
    expect(asked).toBe(0);
  });

  it.each([
    ['x', /^BAD_URL: "x" is no URL/u],
    ['file:///etc/passwd', /^BAD_URL: file: is not supported/u],
    ['ftp://example.com/', /^BAD_URL: ftp: is not supported/u],
    ['https://user:password@example.com/', /^BAD_URL: a URL with a user name or password/u],
    ['http://no-such-host.invalid/', /^UNREACHABLE: no-such-host\.invalid: /u],
  ])('%s is refused', async (url, message) => {
    await expect(fetched(url)).rejects.toThrow(message);
  });

  it('an allowed host is allowed with its port only', async () => {
    const port = await serve(page('text/plain', 'inside'));
    await expect(fetched(`http://127.0.0.1:${port}/`, { allow: ['127.0.0.1', '127.0.0.1:1'] })).rejects.toThrow(/^PRIVATE_ADDRESS: /u);
    expect(await fetched(`http://localhost:${port}/`, { allow: [`localhost:${port}`] })).toMatch(/inside$/u);
  });

  it('an error of the server is an error with its page, and a file that is no text is told with its size', async () => {
    const missing = await serve((_request, response) => response.writeHead(404, { 'content-type': 'text/plain' }).end('no such page'));
    await expect(fetched(`http://127.0.0.1:${missing}/x`, { allow: [`127.0.0.1:${missing}`] })).rejects.toThrow(
      /^HTTP_404: [\s\S]*no such page$/u,
    );
    const image = await serve(page('image/png', Buffer.alloc(64)));
    await expect(fetched(`http://127.0.0.1:${image}/`, { allow: [`127.0.0.1:${image}`] })).rejects.toThrow(/sent image\/png of 64 bytes$/u);
    const lying = await serve(page('text/html', Buffer.alloc(64)));
    await expect(fetched(`http://127.0.0.1:${lying}/`, { allow: [`127.0.0.1:${lying}`] })).rejects.toThrow(/^NOT_TEXT: /u);
  });

  it('a flood is read up to its limit, also one that is compressed; deep and wide pages end', { timeout: 60_000 }, async () => {
    const flood = await serve(page('text/plain', gzipSync(Buffer.alloc(64 * 1024 * 1024, 'a')), { 'content-encoding': 'gzip' }));
    expect(await fetched(`http://127.0.0.1:${flood}/`, { allow: [`127.0.0.1:${flood}`] })).toContain('only the first 2');
    const deep = await serve(page('text/html', `<body>${'<div>'.repeat(FETCH_LIMITS.pageBytesMax / 5)}end`));
    await expect(fetched(`http://127.0.0.1:${deep}/`, { allow: [`127.0.0.1:${deep}`] })).rejects.toThrow(/^UNREADABLE: /u);
    const wide = await serve(page('text/html', `<body>${'<p>x'.repeat(100_000)}`));
    expect(await fetched(`http://127.0.0.1:${wide}/`, { allow: [`127.0.0.1:${wide}`] })).toContain('status 200');
  });

  it('a server that sends nothing more is left when the call is cancelled', async () => {
    const stop = new AbortController();
    const port = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' }).write('a');
      stop.abort(new Error('cancelled'));
    });
    const pending = fetched(`http://127.0.0.1:${port}/`, { allow: [`127.0.0.1:${port}`], signal: stop.signal });
    await expect(pending).rejects.toThrow('cancelled');
  });
});
