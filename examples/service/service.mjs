// A service that runs agents: start, follow with tokens, steer, decide, cancel. Nothing of a run is in its memory.
import { once } from 'node:events';
import Fastify from 'fastify';
import { PerdureError } from 'perdure/client';

/** The HTTP status of each exit code: bad input, not found, refused, not reachable. */
const STATUS = { 2: 400, 3: 404, 4: 409, 5: 503 };

const text = { type: 'string', minLength: 1, maxLength: 100_000 };
const body = (properties, required) => ({ schema: { body: { type: 'object', properties, required, additionalProperties: false } } });

/** Creates the service. `client`: an AgentClient with token streams. */
export function createService(client) {
  // a wrong field is an error, not something to change in silence
  const ajv = { customOptions: { coerceTypes: false, removeAdditional: false } };
  const app = Fastify({ forceCloseConnections: true, ajv });
  app.setErrorHandler(sendError);

  app.post('/runs', body({ id: text, task: text }, ['task']), async ({ body: { id, task } }, reply) => {
    const { run, duplicate } = await client.start({ ...(id && { id }), task, agent: 'support' });
    return reply.code(duplicate ? 200 : 202).send({ id: run.runId, duplicate });
  });

  app.get('/runs/:id', async ({ params }) => await client.get(params.id).describe());

  app.post('/runs/:id/messages', body({ text, id: text }, ['text']), async ({ params, body: { text, id } }, reply) => {
    return reply.code(202).send(await client.get(params.id).steer(text, id ? { id } : {}));
  });

  app.post('/runs/:id/cancel', async ({ params }, reply) => reply.code(202).send(await client.get(params.id).cancel()));

  app.get('/runs/:id/approvals', async ({ params }) => (await client.get(params.id).approvals()).pending);

  const decision = { decision: { enum: ['approve', 'deny'] }, by: text, reason: text };
  app.post('/runs/:id/approvals/:call', body(decision, ['decision', 'by']), async ({ params, body: { decision, by, reason } }) => {
    const run = client.get(params.id);
    return decision === 'approve' ? await run.approve(params.call, { by }) : await run.deny(params.call, { by, ...(reason && { reason }) });
  });

  app.get('/runs/:id/events', async (request, reply) => {
    const run = client.get(request.params.id);
    await run.describe(); // an unknown run is an answer with 404, not an empty stream
    reply.hijack();
    await sendEvents(run, request, reply.raw);
  });
  return app;
}

/**
 * Server-sent events until the run ends. A client that comes back with `Last-Event-ID` misses no event. Tokens have no id: a transcript
 * event follows each answer.
 */
async function sendEvents(run, request, response) {
  const left = new AbortController();
  response.once('close', () => left.abort());
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  try {
    const after = Number(request.headers['last-event-id'] ?? 0) || 0;
    for await (const item of run.watch({ after, signal: left.signal })) {
      const { type, ...data } = item;
      const id = type === 'event' ? `id: ${item.event.seq}\n` : '';
      const isTaken = response.write(`${id}event: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
      // a client that does not read makes this service wait, not grow
      if (!isTaken) await once(response, 'drain', { signal: left.signal });
    }
  } catch (error) {
    if (!left.signal.aborted) response.write(`event: problem\ndata: ${JSON.stringify({ message: error.message })}\n\n`);
  } finally {
    response.end();
  }
}

function sendError(error, _request, reply) {
  if (error instanceof PerdureError) return reply.code(STATUS[error.exitCode] ?? 500).send({ code: error.code, message: error.message });
  if (error.statusCode < 500) return reply.code(error.statusCode).send({ code: error.code, message: error.message });
  console.error(error);
  return reply.code(500).send({ code: 'INTERNAL', message: 'the service failed' });
}
