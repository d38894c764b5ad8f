import { PerdureError } from '../../contracts/perdure-error.js';
import { type SignedVerb, signRequest } from '../../contracts/signature.js';
import { echoValue } from '../../contracts/text/echo-value.js';
import { openAuthKey } from '../../worker/state-folder/auth-key.js';
import { openStateFolder, resolveStateDir } from '../../worker/state-folder/state-folder.js';
import type { CliContext } from '../host/context.js';

const VERBS: readonly string[] = ['start', 'approve', 'answer', 'extend'] satisfies readonly SignedVerb[];

/** The arguments of `sign`. */
export interface SignArguments {
  readonly verb: string;
  readonly run: string;
  readonly json: string;
}

/**
 * `sign`: prints the input of a start, an approval or an extension with its signature, for clients of other languages. The signature counts
 * once, for this run and input, within 5 minutes. Throws `BAD_OPTION` (2).
 */
export async function sign({ verb, run, json }: SignArguments, { output }: CliContext): Promise<number> {
  if (!isSigned(verb)) throw new PerdureError('BAD_OPTION', `${echoValue(verb)}: ${VERBS.join(', ')} can be signed`, 2);
  const input = parseObject(json);
  const { authKey } = await openStateFolder(resolveStateDir());
  const auth = signRequest(await openAuthKey(authKey), { verb, runId: run, input }, Date.now());
  output.stdout.write(`${JSON.stringify({ ...input, auth })}\n`);
  return 0;
}

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
