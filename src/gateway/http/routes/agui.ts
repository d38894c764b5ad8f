import { z } from 'zod';
import { QUEUE_MODES } from '../../../contracts/constants/queue-modes.js';
import { AgUiWriter } from '../agui/agui-writer.js';
import { AgUiBody, readInput } from '../agui/posted-agui.js';
import { answerStream } from '../chat/chat-stream.js';
import { sendOnce } from '../chat/send-once.js';
import { framesOf } from '../chat/ui-chunk.js';
import { defineRoute } from '../routing/route.js';
import { sessionOf } from '../routing/session-of.js';

/** `POST /v1/agui`: sends the newest message of an AG-UI client, and streams the answer. */
export const postAgUi = defineRoute({
  method: 'POST',
  path: '/v1/agui',
  right: 'run',
  summary: 'send the newest message of an AG-UI client (`HttpAgent`), once for its id, and stream the answer',
  query: z.strictObject({
    agent: z.string().optional().describe('Name of the agent, when the message starts the session'),
    queue: z.enum(QUEUE_MODES).optional().describe('What happens while a run is active; default: that of the session'),
  }),
  body: AgUiBody,
  startsWork: true,
  answers: [
    { status: 200, meaning: 'the events of AG-UI, from the beginning of the answer', contentType: 'text/event-stream' },
    { status: 409, meaning: '`ANSWERED`: the session no longer lists this message; `MESSAGE_DROPPED`: it was dropped' },
    { status: 422, meaning: '`CLIENT_TOOLS`, `NO_INTERRUPT`, `NO_NEW_MESSAGE`, `BAD_MESSAGE`, `REMOTE_FILE`: see the guide' },
    { status: 429, meaning: '`QUEUE_FULL`: the message was not accepted' },
  ],
  async run({ gateway, caller, query: { agent, queue }, body }) {
    const { message, ...shown } = readInput(body);
    const session = sessionOf(gateway.door.client, caller, body.threadId, agent);
    const answer = await sendOnce(session, { ...message, ...(queue === undefined ? {} : { queue }) }, false);
    const writer = new AgUiWriter(body, shown);
    return answerStream(gateway, { session, answer, format: { isWhole: true, encode: (chunks) => framesOf(writer.take(chunks)) } });
  },
});
