import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { AUTH_LIMITS } from './constants/limits.js';
import { canonicalJson, hashContent } from './digest.js';
import type { SendInput } from './schemas/session.js';

/**
 * What only the owner of an embedded server may do: start a run or a session on a folder, send to such a session, approve a call, answer a
 * question, raise a limit, or let a schedule start such a run.
 */
export type SignedVerb = 'start' | 'send' | 'approve' | 'answer' | 'extend' | 'schedule';

/** A request to sign. `input` is that of the workflow or the update, without `auth`. */
export interface SignedRequest {
  readonly verb: SignedVerb;
  readonly runId: string;
  readonly input: object;
}

/** A signature as it was sent: the time of the signature, in milliseconds since 1970, and the code. */
export interface Signature {
  readonly atMs: number;
  readonly code: string;
}

/**
 * Signs a request: `v1.TIME.CODE`, where CODE is the HMAC-SHA-256 (hex) of the canonical JSON of verb, run, input and time. Fields that
 * are `undefined` and a field `auth` of the input do not count.
 */
export function signRequest(key: Uint8Array, request: SignedRequest, atMs: number): string {
  return `v1.${atMs}.${codeOf(key, request, atMs)}`;
}

/** The request that signs a message to a session: its id, and the hash of its content, so that nobody needs the content to check it. */
export function signedSend(workflowId: string, { id, ...content }: SendInput): SignedRequest {
  return { verb: 'send', runId: workflowId, input: { id, content: hashContent(content) } };
}

/** Reads a signature. Undefined for anything else. */
export function readSignature(given: unknown): Signature | undefined {
  if (typeof given !== 'string' || given.length > AUTH_LIMITS.signatureCharsMax) return undefined;
  const { at, code } = /^v1\.(?<at>\d{1,15})\.(?<code>[0-9a-f]{64})$/u.exec(given)?.groups ?? {};
  return at === undefined || code === undefined ? undefined : { atMs: Number(at), code };
}

/** True if the key made this signature for this request. Takes the same time for every wrong code. */
export function isSignedBy(key: Uint8Array, request: SignedRequest, { atMs, code }: Signature): boolean {
  const right = codeOf(key, request, atMs);
  let difference = right.length ^ code.length;
  for (let at = 0; at < right.length; at += 1) difference |= right.charCodeAt(at) ^ code.charCodeAt(at);
  return difference === 0;
}

function codeOf(key: Uint8Array, { verb, runId, input }: SignedRequest, atMs: number): string {
  const { auth: _, ...plain } = input as { readonly auth?: unknown };
  return bytesToHex(hmac(sha256, key, utf8ToBytes(canonicalJson({ verb, runId, input: plain, atMs }))));
}

/** Input of activity `checkSignature`. */
export interface CheckSignatureInput extends SignedRequest {
  readonly auth: unknown;
  /** Names the request: a signature counts for one. */
  readonly use: string;
}

/** `problem`: why the signature does not count, as a code and a sentence. */
export type CheckSignatureResult = { readonly problem?: string };
