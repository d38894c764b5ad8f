import { describe, expect, it } from 'vitest';
import type { Config } from '../../../src/define/define-config.js';
import { call, say } from '../../support/agent-worker.js';
import { until } from '../../support/use-workers.js';
import { entry } from './support/chat-agent.js';
import type { GatewayClient } from './support/gateway-client.js';
import { useGateways } from './support/use-gateways.js';

const gateways = useGateways();

const CONFIG: Config = {
  model: 'fake/model',
  providers: { fake: { api: 'openai-chat', baseUrl: 'http://127.0.0.1:9' } },
  agents: { asker: { description: 'Asks.', prompt: 'Ask.', tools: ['ask_user'] } },
};

describe('questions over HTTP', () => {
  it('are listed and answered once; a bad answer is 422 and the question still waits; another one is declined', async () => {
    const place = await gateways.place({
      config: CONFIG,
      model: (request) => {
        const answered = request.messages.filter(({ role }) => role === 'tool').length;
        return answered < 2 ? call(['ask_user', { question: `Question ${answered}?`, choices: ['red', 'blue'] }]) : say('done');
      },
    });
    const { client, as } = await place.gateway();
    const runId = await client.start({ agent: 'asker' });
    const path = `/v1/runs/${runId}/questions`;
    const pending = async (text: string): Promise<string> => await pendingId(client, path, text);
    const first = `${path}/${await pending('Question 0?')}`;
    expect(await client.ask(first, { body: {} })).toMatchObject({ status: 422, body: { error: { code: 'BAD_OPTION' } } });
    expect(await client.ask(first, { body: { answer: 'blue', decline: true } })).toMatchObject({ status: 422 });
    expect(await client.ask(first, { body: { answer: '' } })).toMatchObject({ status: 422, body: { error: { code: 'BAD_ANSWER' } } });
    expect(await client.ask(first, { body: { answer: '2' } })).toMatchObject({
      status: 200,
      body: { outcome: 'answered', answer: 'blue', by: 'http' },
    });
    const second = `${path}/${await pending('Question 1?')}`;
    expect(await client.ask(first, { body: { answer: 'red' } })).toMatchObject({
      status: 409,
      body: { error: { code: 'ALREADY_ANSWERED' } },
    });
    expect(await client.ask(second, { body: { decline: true, reason: 'later' } })).toMatchObject({ status: 200 });
    expect((await client.events(runId)).at(-1)).toMatchObject({ data: { result: { output: 'done' } } });
    expect(await client.ask(path)).toMatchObject({ status: 200, body: [] });
    expect(await as('nobody').ask(path)).toMatchObject({ status: 401 });
    const { as: asTenant } = await place.gateway({ entries: [entry('b', 'other')] });
    expect(await asTenant('b').ask(path)).toMatchObject({ status: 404, body: { error: { code: 'RUN_NOT_FOUND' } } });
  });
});

/** Waits until a question is pending, and returns its id. */
async function pendingId(client: GatewayClient, path: string, text: string): Promise<string> {
  let found: { callId: string } | undefined;
  await until(async () => {
    // the route answers with a list
    const list = (await client.ask(path)).body as unknown as { callId: string; question: string }[];
    found = list.find(({ question }) => question === text);
    return found !== undefined;
  }, text);
  return found?.callId ?? '';
}
