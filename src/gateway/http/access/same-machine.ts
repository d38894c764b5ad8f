import type { IncomingHttpHeaders } from 'node:http';
import { readOrigin } from '../../../contracts/text/origin.js';
import { HttpError } from './http-error.js';

const LOCAL_NAMES = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/iu;

/** True for an address that only this machine reaches. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/u.test(host);
}

/** Where the gateway is reached. */
export interface Site {
  /** Only this machine reaches its address. */
  readonly isLocal: boolean;
  /** Origin of the proxy in front of it, in lower case and without a default port. @default none */
  readonly publicOrigin?: string;
}

/**
 * Refuses requests that a web page of another site makes: under a name that resolves to this machine (DNS rebinding), or across sites.
 * A proxy that ends TLS passes on requests to the public origin, with the public name as `Host` or with that of the gateway. Throws HttpError
 * 403.
 */
export function checkSite(headers: IncomingHttpHeaders, { isLocal, publicOrigin }: Site): void {
  const { host = '', origin } = headers;
  const isPublic =
    publicOrigin !== undefined && readOrigin(`${publicOrigin.slice(0, publicOrigin.indexOf(':'))}://${host}`) === publicOrigin;
  if (isLocal && !isPublic && !LOCAL_NAMES.test(host)) throw new HttpError(403, 'BAD_HOST', 'the Host header is not of this machine');
  const site = headers['sec-fetch-site'];
  // the public name over plain HTTP is another origin
  const isOwn = origin === undefined || origin.toLowerCase() === publicOrigin || (!isPublic && hostOf(origin) === host.toLowerCase());
  if (!isOwn || site === 'cross-site') throw new HttpError(403, 'BAD_ORIGIN', 'requests of pages of another site are refused');
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
