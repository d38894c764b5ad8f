import { randomUUID } from 'node:crypto';
import { checkVerbInput } from '../../client/validate/run-input.js';
import { sessionId } from '../../contracts/handlers.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import { type SignedRequest, type SignedVerb, signedSend, signRequest } from '../../contracts/signature.js';
import { echoValue } from '../../contracts/text/echo-value.js';
import { SESSION_UPDATES } from '../../contracts/verbs/index.js';
import { openAuthKey } from '../../worker/state-folder/auth-key.js';
import { openStateFolder, resolveStateDir } from '../../worker/state-folder/state-folder.js';
import type { CliContext } from '../host/context.js';

const VERBS: readonly string[] = ['start', 'send', 'approve', 'answer', 'extend'] satisfies readonly SignedVerb[];

/** The arguments of `sign`. */
export interface SignArguments {
  readonly verb: string;
  readonly run: string;
  readonly json: string;
}

/**
 * `sign`: prints the input of a start, a message to a session, an approval or an extension with its signature, for clients of other languages.
 * The signature counts once, for this run and input, within 5 minutes. Throws `BAD_OPTION` (2), and for a message as `send` does.
 */
export async function sign({ verb, run, json }: SignArguments, { output }: CliContext): Promise<number> {
  if (!isSigned(verb)) throw new PerdureError('BAD_OPTION', `${echoValue(verb)}: ${VERBS.join(', ')} can be signed`, 2);
  const { input, request } = requestOf(verb, run, parseObject(json));
  const { authKey } = await openStateFolder(resolveStateDir());
  const auth = signRequest(await openAuthKey(authKey), request, Date.now());
  output.stdout.write(`${JSON.stringify({ ...input, auth })}\n`);
  return 0;
}

/** What is printed, and what is signed. */
function requestOf(verb: SignedVerb, run: string, given: object): { readonly input: object; readonly request: SignedRequest } {
  if (verb !== 'send') return { input: given, request: { verb, runId: run, input: given } };
  if (!run.startsWith(SESSION)) throw new PerdureError('BAD_OPTION', `send: name the session as ${SESSION}KEY, got ${echoValue(run)}`, 2);
  // the signature covers the id and the content as the session reads them
  const input = checkVerbInput(SESSION_UPDATES.send, { id: randomUUID(), ...given });
  return { input, request: signedSend(run, input) };
}

/** What the id of a session's workflow begins with. */
const SESSION = sessionId('');

function isSigned(verb: string): verb is SignedVerb {
  return VERBS.includes(verb);
}

function parseObject(json: string): object {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  } catch {
    // the message below tells it
  }
  throw new PerdureError('BAD_OPTION', `the input must be a JSON object, got ${echoValue(json)}`, 2);
}
