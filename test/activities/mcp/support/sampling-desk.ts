import { fileURLToPath } from 'node:url';
import type { SamplingOptions } from '../../../../src/define/worker/mcp-servers.js';
import type { ModelAnswer, ModelRequest } from '../../../../src/providers/contract/provider.js';
import { call, say } from '../../../support/agent-worker.js';
import type { TestRun } from '../../../support/use-workers.js';
import { type Calls, type DeskOptions, texts, useDesk } from './asking-desk.js';

/** A server of the official SDK that requests completions during its calls. */
const SAMPLING_SERVER = fileURLToPath(new URL('sampling-server.mjs', import.meta.url));

/** What a test changes. `answer`: the model's answer to the nth completion, from 1. */
export interface SamplingDeskOptions extends DeskOptions {
  readonly sampling?: boolean | SamplingOptions;
  readonly answer?: (request: ModelRequest, nth: number) => ModelAnswer | Promise<ModelAnswer>;
}

/** Workers with the server `desk`, which may request completions. */
export function useSamplingDesk() {
  const { desk } = useDesk();
  return async (calls: Calls, { sampling = true, answer = () => say('blue'), server, worker, ...more }: SamplingDeskOptions = {}) => {
    const completions: ModelRequest[] = [];
    const model = (request: ModelRequest): ModelAnswer | Promise<ModelAnswer> => {
      if (isCompletion(request)) {
        completions.push(request);
        return answer(request, completions.length);
      }
      return request.messages.some(({ role }) => role === 'assistant') ? say('done') : call(...calls);
    };
    const started = await desk(calls, {
      server: { args: [SAMPLING_SERVER], elicitation: false, sampling, ...server },
      worker: { model, ...worker },
      ...more,
    });
    return { ...started, completions };
  };
}

/** A turn of the run has tools. */
export function isCompletion({ tools }: ModelRequest): boolean {
  return tools.length === 0;
}

/** The params of a request with one message. */
export function ask(text: string, more: object = {}): object {
  return { messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens: 100, ...more };
}

/** What the server got for its requests, by call. */
export async function given(run: TestRun): Promise<unknown[]> {
  return (await texts(run)).map((text): unknown => JSON.parse(text));
}

/** The events of the completions of a run. */
export async function sampled(run: TestRun) {
  return (await run.events()).filter((event) => event.type === 'mcp.sampled');
}
