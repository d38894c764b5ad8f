import { createHash, createHmac } from 'node:crypto';
import type { RawRequest } from './raw-server.js';

const AUTHORIZATION = /^AWS4-HMAC-SHA256 Credential=([^/]+)\/([^,]+), SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/u;

/** True when a POST, as it came over the wire, is signed (version 4) with this secret: its path, its signed headers and its body. */
export function isSigned({ path, headers, body }: RawRequest, secret: string): boolean {
  const [, , scope = '', signedHeaders = '', signature] = AUTHORIZATION.exec(headers.authorization ?? '') ?? [];
  const canonical = [
    'POST',
    encodeURIComponent(path).replaceAll('%2F', '/'),
    '',
    ...signedHeaders.split(';').map((name) => `${name}:${String(headers[name]).trim()}`),
    '',
    signedHeaders,
    sha256(body),
  ];
  const toSign = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(canonical.join('\n'))].join('\n');
  const key = scope.split('/').reduce<string | Buffer>((above, part) => hmac(above, part), `AWS4${secret}`);
  return hmac(key, toSign).toString('hex') === signature;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
