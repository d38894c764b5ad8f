import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type SignedRequest, signRequest } from '../../contracts/signature.js';

/** Signs requests as the owner of an embedded server. Undefined without its key. */
export type Signer = (request: SignedRequest) => Promise<string | undefined>;

/** A server that is not embedded, whose own authorization decides. */
export const UNSIGNED: Signer = () => Promise.resolve(undefined);

const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|localhost|\[::1\]):\d+$/u;

/**
 * The state folder of a server that may be embedded, which is a server of this machine: `stateDir`, else `PERDURE_DIR`, else `.perdure` in the
 * current folder. Undefined for a server of another machine.
 */
export function ownerFolder(address: string | undefined, stateDir: string | undefined): string | undefined {
  if (stateDir === undefined && (address === undefined || !LOOPBACK.test(address))) return undefined;
  return resolve(stateDir ?? (process.env['PERDURE_DIR'] || '.perdure'));
}

/** The signer of a state folder. The key is read for each request: a worker may make it after the client connected. */
export function signerFor(folder: string | undefined): Signer {
  if (folder === undefined) return UNSIGNED;
  return async (request) => {
    const text = await readFile(join(folder, 'auth.key'), 'utf8').catch(() => '');
    const hex = text.trim();
    return /^[0-9a-f]{64}$/u.test(hex) ? signRequest(Buffer.from(hex, 'hex'), request, Date.now()) : undefined;
  };
}
