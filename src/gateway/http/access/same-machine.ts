import type { IncomingHttpHeaders } from 'node:http';
import { HttpError } from './http-error.js';

const LOCAL_NAMES = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/iu;

/** True for an address that only this machine reaches. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/u.test(host);
}

/**
 * Refuses requests that a web page of another site makes: under a name that resolves to this machine (DNS rebinding), or across sites.
 * Throws HttpError 403.
 */
export function checkSite(headers: IncomingHttpHeaders, { isLocal }: { readonly isLocal: boolean }): void {
  const { host = '', origin } = headers;
  if (isLocal && !LOCAL_NAMES.test(host)) throw new HttpError(403, 'BAD_HOST', 'the Host header is not of this machine');
  const site = headers['sec-fetch-site'];
  const isForeign = (origin !== undefined && hostOf(origin) !== host.toLowerCase()) || site === 'cross-site';
  if (isForeign) throw new HttpError(403, 'BAD_ORIGIN', 'requests of pages of another site are refused');
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
