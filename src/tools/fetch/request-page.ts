import { lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, fetch } from 'undici';
import { FETCH_LIMITS } from '../../contracts/constants/limits.js';
import { echoValue } from '../../contracts/text/echo-value.js';
import { matches } from '../../process/sandbox/filter-proxy.js';
import { isPublicAddress } from './public-address.js';

/** The answer of a web server, as it came. */
export interface Page {
  /** The address after redirects. */
  readonly url: URL;
  readonly status: number;
  /** Without parameters, in lower case; empty if the server names none. */
  readonly contentType: string;
  readonly charset: string;
  readonly bytes: Buffer;
  /** True if the page is longer than `bytes`. */
  readonly cut: boolean;
}

/** Options of `requestPage`. */
export interface PageRequest {
  /** Hosts that may have private addresses: `host`, `*.host` or an address, each with or without `:port`. */
  readonly allow: readonly string[];
  readonly signal: AbortSignal;
}

/**
 * Requests a page with GET. Each name is looked up once, and the connection goes to the address that was checked: a second answer of the
 * name server cannot lead elsewhere. Each redirect is checked in the same way. Throws an Error whose message is for the model.
 */
export async function requestPage(given: string, request: PageRequest): Promise<Page> {
  let url = checkedUrl(given, request.allow);
  for (let redirects = 0; redirects <= FETCH_LIMITS.redirectsMax; redirects += 1) {
    const answer = await requestOnce(url, request);
    if ('page' in answer) return answer.page;
    url = checkedUrl(answer.redirect, request.allow);
  }
  throw new Error(`TOO_MANY_REDIRECTS: more than ${FETCH_LIMITS.redirectsMax}, the last one to ${url.host}`);
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

async function requestOnce(url: URL, { allow, signal }: PageRequest): Promise<{ readonly page: Page } | { readonly redirect: string }> {
  const dispatcher = new Agent({
    connect: { lookup: checkedLookup(url, allow), timeout: FETCH_LIMITS.connectTimeoutMs },
    headersTimeout: FETCH_LIMITS.silenceMs,
    bodyTimeout: FETCH_LIMITS.silenceMs,
  });
  try {
    const response = await fetch(url, { dispatcher, signal, redirect: 'manual', headers: HEADERS });
    const location = REDIRECTS.has(response.status) ? response.headers.get('location') : null;
    if (location !== null) return { redirect: absolute(location, url) };
    const [contentType = '', ...parameters] = (response.headers.get('content-type') ?? '').toLowerCase().split(';');
    const charset = /charset="?(?<name>[\w-]+)/u.exec(parameters.join(';'))?.groups?.name ?? 'utf-8';
    const body = await readBody(response.body ?? []);
    return { page: { url, status: response.status, contentType: contentType.trim(), charset, ...body } };
  } catch (error) {
    signal.throwIfAborted();
    throw readable(error, url);
  } finally {
    // also ends a body that is not read to its end
    await dispatcher.destroy();
  }
}

const HEADERS = { 'user-agent': 'perdure', accept: 'text/markdown, text/html, text/plain, application/json;q=0.9, */*;q=0.1' };

/** The body, decompressed, up to the limit. */
async function readBody(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<Pick<Page, 'bytes' | 'cut'>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > FETCH_LIMITS.pageBytesMax) break;
  }
  return { bytes: Buffer.concat(chunks).subarray(0, FETCH_LIMITS.pageBytesMax), cut: size > FETCH_LIMITS.pageBytesMax };
}

/** A URL that may be requested. Its parser writes every spelling of an IPv4 address, such as `0x7f.1`, in the usual form. */
function checkedUrl(given: string, allow: readonly string[]): URL {
  if (!URL.canParse(given)) throw new Error(`BAD_URL: ${echoValue(given)} is no URL; give it whole, such as https://example.com/page`);
  const url = new URL(given);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new Error(`BAD_URL: ${url.protocol} is not supported; use https:`);
  if (url.username !== '' || url.password !== '') throw new Error('BAD_URL: a URL with a user name or password is not requested');
  const host = hostOf(url);
  if (isIP(host) !== 0 && !isPublicAddress(host) && !isAllowed(url, allow)) throw new PrivateAddressError(host);
  return url;
}

/** Looks a name up once. One private address among several is enough to refuse it. */
function checkedLookup(url: URL, allow: readonly string[]): LookupFunction {
  return (name, { all }, done) => {
    lookup(name, { all: true }, (error, found) => {
      if (error) {
        done(error, '');
        return;
      }
      const [first] = found;
      const isRefused = !isAllowed(url, allow) && !found.every(({ address }) => isPublicAddress(address));
      if (!first) done(new Error(`${name} has no address`), '');
      else if (isRefused) done(new PrivateAddressError(name), '');
      else if (all) done(null, found);
      else done(null, first.address, first.family);
    });
  };
}

function isAllowed(url: URL, allow: readonly string[]): boolean {
  const port = url.port === '' ? DEFAULT_PORTS[url.protocol] : Number(url.port);
  return port !== undefined && allow.some((entry) => matches(entry, { host: hostOf(url), port }));
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

/** The host without the brackets of an IPv6 address and the dot at the end of a full name. */
function hostOf({ hostname }: URL): string {
  return hostname.replaceAll(/^\[|\]$|\.$/gu, '').toLowerCase();
}

function absolute(location: string, base: URL): string {
  if (!URL.canParse(location, base.href)) throw new Error(`BAD_URL: ${base.host} redirects to ${echoValue(location)}, which is no URL`);
  return new URL(location, base).href;
}

/** A host that has an address of a private network. */
class PrivateAddressError extends Error {
  constructor(host: string) {
    super(`PRIVATE_ADDRESS: ${host} is on a private network, or this machine; only public hosts are requested`);
  }
}

/** fetch names the reason in its cause, sometimes two deep. */
function readable(error: unknown, url: URL): Error {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof PrivateAddressError) return cause;
    if (!(cause.cause instanceof Error)) {
      if (/^[A-Z_]+: /u.test(cause.message)) return cause;
      return new Error(`UNREACHABLE: ${url.host}: ${cause.message === '' ? cause.name : cause.message}`, { cause: error });
    }
  }
  return new Error(`UNREACHABLE: ${url.host}: ${String(error)}`);
}
