import { Context } from '@temporalio/activity';
import type { AgentActivities } from '../../contracts/activities.js';
import { AGENT_SESSION, SESSION_HANDLERS, sessionId } from '../../contracts/handlers.js';
import type { SendInput } from '../../contracts/schemas/session.js';
import { ScheduledMessageInput, type SendScheduledInput } from '../../contracts/schemas/session.js';
import { signedSend } from '../../contracts/signature.js';
import { describeSession } from '../../contracts/text/describe-session.js';
import type { Authenticate, Sign } from '../prepare/authenticate.js';
import { failure } from '../runtime/failures.js';

/** The check of an unsigned start, and the key of the owner. Both absent where nothing is signed. */
export interface SendScheduledOptions {
  readonly authenticate?: Authenticate | undefined;
  readonly sign?: Sign | undefined;
}

/**
 * Makes the activity `sendScheduled`: sends the message of a schedule to its session, as a signal, and starts the session if there is none. The
 * message has the id of the workflow, so that it is one message however often it is sent. It is signed only if the owner scheduled it.
 */
export function createSendScheduled({ authenticate, sign }: SendScheduledOptions): AgentActivities['sendScheduled'] {
  return async (request) => {
    const { session, parts } = readInput(request.input);
    const unsigned = await authenticate?.(startOf(request), Date.now());
    const signer = authenticate && unsigned === undefined ? sign : undefined;
    const message = { id: request.firing, parts, queue: 'followup' as const };
    await send({ session, message }, signer);
    return { v: 1, session: session.key, messageId: message.id, ...(unsigned === undefined ? {} : { unsigned }) } as const;
  };
}

/** The input, which may come from any client. */
function readInput(given: unknown): ScheduledMessageInput {
  const parsed = ScheduledMessageInput.safeParse(given);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.slice(0, 3).map(({ path, message }) => `${path.join('.') || 'input'}: ${message}`);
  throw failure('Input.Invalid', `BAD_INPUT ${problems.join('; ')}`);
}

function startOf({ firing, executionId, input }: SendScheduledInput): Parameters<Authenticate>[0] {
  return { verb: 'start', runId: firing, input, auth: undefined, use: `start ${firing} ${executionId}` };
}

/** What is sent, and to whom. */
interface Sent {
  readonly session: ScheduledMessageInput['session'];
  readonly message: SendInput & { readonly id: string };
}

async function send({ session, message }: Sent, sign: Sign | undefined): Promise<void> {
  const { client, info } = Context.current();
  const workflowId = sessionId(session.key);
  const start = sign ? { auth: await sign({ verb: 'start', runId: workflowId, input: session }) } : {};
  const sending = sign ? { auth: await sign(signedSend(workflowId, message)) } : {};
  await client.workflow.signalWithStart(AGENT_SESSION, {
    workflowId,
    taskQueue: info.taskQueue,
    args: [{ ...session, ...start }],
    signal: SESSION_HANDLERS.message,
    signalArgs: [{ ...message, ...sending }],
    ...describeSession(session),
  });
}
