import { Context } from '@temporalio/activity';
import type { CallOutput } from '../../artifacts/call-output.js';
import type { CallToolInput } from '../../contracts/activities.js';
import { WORKER_LIMITS } from '../../contracts/constants/limits.js';
import { cutText } from '../../contracts/text/redact.js';
import type { SecretMask } from '../../contracts/text/secret-mask.js';
import type { AskingContext } from '../mcp/asking-context.js';
import { ownershipOf } from '../runtime/ownership.js';

/** The state that a running tool and its context share. */
export interface Running extends Pick<AskingContext, 'ask' | 'sampling'> {
  /** The tool's own heartbeat details, for operators. */
  readonly shown: { details: string };
  readonly output: CallOutput;
  readonly secrets: SecretMask;
}

/** The context of a tool. It contains nothing of Temporal. */
export function toolContext(input: CallToolInput, signal: AbortSignal, { shown, output, secrets, ask, sampling }: Running): AskingContext {
  const context = Context.current();
  const { log, info } = context;
  return {
    runId: input.runId,
    turn: input.turn,
    callId: input.callId,
    idempotencyKey: input.key,
    attempt: info.attempt,
    ...(input.workspace === undefined ? {} : { workspace: input.workspace }),
    ...(input.agent === undefined ? {} : { agent: input.agent }),
    signal,
    ...(ask ? { ask } : {}),
    ...(sampling ? { sampling } : {}),
    ...(ask || sampling ? { secrets } : {}),
    assertOwned: async () => await ownershipOf(context)?.confirm(),
    output,
    heartbeat: (details) => {
      // converted to text here: details that are not JSON fail the tool, not the worker's heartbeat timer
      const text = typeof details === 'string' ? details : (JSON.stringify(details) ?? '');
      shown.details = cutText(secrets.text(text), WORKER_LIMITS.heartbeatBytesMax / 2);
    },
    log: {
      info: (message) => log.info(secrets.text(message), { tool: input.tool }),
      warn: (message) => log.warn(secrets.text(message), { tool: input.tool }),
    },
  };
}
