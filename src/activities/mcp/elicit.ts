import { createHash } from 'node:crypto';
import type { ElicitRequest, ElicitResult } from '@modelcontextprotocol/sdk/types.js';
import { ELICITATION_LIMITS } from '../../contracts/constants/limits.js';
import { NO_SECRETS, type SecretMask } from '../../contracts/text/secret-mask.js';
import type { Ask, Asker, CallQuestion } from './asking-context.js';
import { readElicitation } from './elicitation-form.js';
import { RequestIds, requestRefusal } from './request-refusal.js';

/** Answers a request of a server that asks a person. Throws an Error with a `code` of JSON-RPC for a request that is refused. */
export type Elicit = (params: ElicitRequest['params'], asker: Asker) => Promise<ElicitResult>;

/** Answers the requests of one attempt of a call, with the person of its run. */
export function createElicit(server: string, ask: Ask, secrets: SecretMask = NO_SECRETS): Elicit {
  const ids = new RequestIds();
  let count = 0;
  return async (params, asker) => {
    count += 1;
    const { perCallMax } = ELICITATION_LIMITS;
    if (count > perCallMax) throw requestRefusal('invalidRequest', `a call may ask at most ${perCallMax} questions`);
    if (params.mode === 'url') throw requestRefusal('invalidParams', 'only forms are supported');
    // masked whole, because a cut could leave a part of a secret
    const form = readForm(secrets.json(params));
    const hash = createHash('sha256')
      .update(JSON.stringify([form.question, form.choices, form.fields]))
      .digest('hex')
      .slice(0, 8);
    const { outcome, answer = '' } = await ask({ ...shown(form), id: ids.next(hash), askedBy: `MCP server ${server}` }, asker);
    if (outcome === 'answered') return { action: 'accept', content: form.contentOf(answer) };
    return { action: outcome === 'declined' ? 'decline' : 'cancel' };
  };
}

function readForm(params: Exclude<ElicitRequest['params'], { mode: 'url' }>): ReturnType<typeof readElicitation> {
  try {
    return readElicitation(params);
  } catch (error) {
    throw requestRefusal('invalidParams', `this question cannot be asked: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function shown({ question, choices, fields }: ReturnType<typeof readElicitation>): Pick<CallQuestion, 'question' | 'choices' | 'fields'> {
  return { question, ...(choices ? { choices } : {}), ...(fields ? { fields } : {}) };
}
