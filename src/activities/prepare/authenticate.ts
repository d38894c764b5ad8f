import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createFileOnce } from '../../artifacts/durable-file.js';
import type { AgentActivities } from '../../contracts/activities.js';
import { AUTH_LIMITS } from '../../contracts/constants/limits.js';
import {
  type CheckSignatureInput,
  type CheckSignatureResult,
  isSignedBy,
  readSignature,
  type SignedRequest,
} from '../../contracts/signature.js';
import { failure } from '../runtime/failures.js';
import { checkFiring } from '../schedules/check-firing.js';

/** The key of the owner of an embedded server, and the folder that remembers the signatures that counted. */
export interface AuthOptions {
  readonly key: Uint8Array;
  readonly folder: string;
  /** The folder of what schedules may start. @default they may start nothing */
  readonly schedules?: string;
}

/** Checks one signature. `sentAt`: when its request was sent. Resolves with the problem, or undefined. */
export type Authenticate = (input: CheckSignatureInput, sentAt: number) => Promise<string | undefined>;

const HOW =
  "this server is open to all users of this machine, so it takes it only with the owner's signature: use perdure, the client of this package " +
  "with the state folder of the server, or 'perdure sign'; 'perdure dev --open' takes unsigned ones";

const WHAT = {
  start: 'a start with a workspace or a child process',
  send: 'a message to a session with a workspace or a child process',
  approve: 'an approval',
  answer: 'an answer',
  extend: 'an extension',
  schedule: 'a schedule',
} as const;

/**
 * Makes the check of signatures. A signature counts for one request, within `AUTH_LIMITS.validMs`: whoever can read the history of a run
 * sees it, and could send it again.
 */
export function createAuthenticate(options: AuthOptions): Authenticate {
  const { key, folder } = options;
  return async (input, sentAt) => {
    const { verb, auth, use } = input;
    const signature = readSignature(auth);
    if (!signature) return await unsignedProblem(input, options);
    if (!isSignedBy(key, input, signature)) return `UNSIGNED: ${WHAT[verb]} has a signature of another key, run or input; ${HOW}`;
    if (Math.abs(sentAt - signature.atMs) > AUTH_LIMITS.validMs)
      return `UNSIGNED: ${WHAT[verb]} has a signature that was made more than ${AUTH_LIMITS.validMs / 60_000} minutes before; sign it again`;
    if (Date.now() - signature.atMs > AUTH_LIMITS.rememberedMs)
      return `UNSIGNED: ${WHAT[verb]} has a signature that has expired; sign it again`;
    const first = await firstUse(folder, signature.code, use);
    return first === use ? undefined : `UNSIGNED: ${WHAT[verb]} has a signature that was used before; sign it again`;
  };
}

/** The problem of a request without a signature. A start that the owner scheduled needs none: its time counts once. */
async function unsignedProblem(input: CheckSignatureInput, { key, folder, schedules }: AuthOptions): Promise<string | undefined> {
  const { verb, use } = input;
  const firing = verb === 'start' && schedules !== undefined ? await checkFiring(input, { key, folder: schedules }) : undefined;
  if (!firing) return `UNSIGNED: ${WHAT[verb]} has no signature; ${HOW}`;
  if ('problem' in firing) return `UNSIGNED: ${firing.problem}`;
  const first = await firstUse(folder, firing.once, use);
  return first === use ? undefined : `UNSIGNED: ${input.runId} was started before`;
}

/** The activity that checks the signature of an update, which was sent just now. */
export function createCheckSignature(
  authenticate: Authenticate | undefined,
): (input: CheckSignatureInput) => Promise<CheckSignatureResult> {
  return async (input) => {
    // a worker of the same folder without the check, such as 'perdure dev --open', takes all
    const problem = await authenticate?.(input, Date.now());
    return problem === undefined ? {} : { problem };
  };
}

/** Signs a request as the owner of the embedded server. */
export type Sign = (request: SignedRequest) => Promise<string>;

/** Makes the activity `signStart`: a sub-agent has the rights of the run that starts it, which was signed by the owner or needs none. */
export function createSignStart(sign: Sign | undefined): AgentActivities['signStart'] {
  return async ({ runId, input }) => {
    if (!sign) throw failure('Input.Invalid', 'UNSIGNED: this worker has no key; restart it against the server of its state folder');
    return { auth: await sign({ verb: 'start', runId, input }) };
  };
}

/** The request for which a signature counted first. */
async function firstUse(folder: string, code: string, use: string): Promise<string> {
  const file = join(folder, createHash('sha256').update(code).digest('hex'));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await createFileOnce(file, use);
  return await readFile(file, 'utf8');
}

/** Forgets signatures that have expired. Never rejects. */
export async function forgetOldSignatures(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const file = join(folder, name);
    const found = await stat(file).catch(() => undefined);
    if (found && Date.now() - found.mtimeMs > 2 * AUTH_LIMITS.rememberedMs) await rm(file, { force: true }).catch(() => undefined);
  }
}
