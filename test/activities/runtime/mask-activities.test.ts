import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApplicationFailure } from '@temporalio/common';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { failure } from '../../../src/activities/runtime/failures.js';
import { maskActivities, maskPrepared } from '../../../src/activities/runtime/mask-activities.js';
import { FileArtifactStore } from '../../../src/artifacts/file-artifact-store.js';
import type { AgentActivities, PreparedRun } from '../../../src/contracts/activities.js';
import { hashJson, hashMessage } from '../../../src/contracts/digest.js';
import type { Message } from '../../../src/contracts/schemas/message.js';
import { SecretMask } from '../../../src/contracts/text/secret-mask.js';
import { defineHook } from '../../../src/define/define-hook.js';
import { defineTool, type ToolContext } from '../../../src/define/define-tool.js';
import { ModelError } from '../../../src/providers/contract/model-error.js';
import type { ModelRequest } from '../../../src/providers/contract/provider.js';
import type { StreamEvent } from '../../../src/streams/stream.js';
import { type AgentWorkerOptions, call, say } from '../../support/agent-worker.js';
import { until, useWorkers } from '../../support/use-workers.js';
import { historyText } from '../support/history-text.js';
import { resultTexts } from '../support/result-texts.js';

const KEY = 'Zq7-canary/value+9xW';
const FORMS = [KEY, Buffer.from(KEY).toString('base64').slice(0, -4), encodeURIComponent(KEY)];
const SECRETS = [{ name: 'env:OPENAI_API_KEY', value: KEY }];
const LABEL = '[secret env:OPENAI_API_KEY]';

describe('A13: known secrets never leave an activity', () => {
  const { worker, start } = useWorkers();
  const folders: string[] = [];

  afterEach(async () => {
    await Promise.all(folders.splice(0).map((folder) => rm(folder, { recursive: true, force: true })));
  });

  it.each([
    ['plain', KEY],
    ['in base64', Buffer.from(`user:${KEY}`).toString('base64')],
    ['percent-encoded', `https://x/?key=${encodeURIComponent(KEY)}`],
    ['in JSON', JSON.stringify({ headers: { authorization: `Bearer ${KEY}` } })],
  ])('a tool result that contains a key %s', async (_, output) => {
    const { history, requests, results } = await run({ tools: [tool(() => output)] });
    expect(results[0]).toContain(LABEL);
    expectClean(history, requests);
  });

  it('a file that a tool returns', async () => {
    const file = { type: 'file', mime: 'text/plain', dataBase64: Buffer.from(`KEY=${KEY}\n`).toString('base64') } as const;
    const { history, messages } = await run({ tools: [tool(() => [file])] });
    const part = messages.flatMap(({ parts }) => parts).find(({ type }) => type === 'tool_result');
    const [kept] = part?.type === 'tool_result' ? part.parts : [];
    expect(kept?.type === 'file' && Buffer.from(kept.dataBase64 ?? '', 'base64').toString()).toBe(`KEY=${LABEL}\n`);
    expectClean(history);
  });

  it('the error of a tool', async () => {
    const fail = tool(() => {
      throw new Error(`401 for ${KEY}`, { cause: new Error(KEY) });
    });
    const { history, requests, results } = await run({ tools: [fail] });
    expect(results[0]).toBe(`401 for ${LABEL}`);
    expectClean(history, requests);
  });

  it('a key at the place where a long result is cut', async () => {
    const output = `${'x'.repeat(24_990)}${KEY}${'y'.repeat(80_000)} error`;
    for (const shift of [0, 5, 10]) {
      const { history } = await run({ tools: [tool(() => output.slice(shift))] });
      expect(history).not.toContain(KEY.slice(0, 8));
      expect(history).not.toContain(KEY.slice(-8));
    }
  });

  it('an artifact, also when the key is cut between two pieces of an output', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'perdure-artifacts-'));
    folders.push(folder);
    const collect = tool(async (ctx) => {
      const output = ctx.output.collect();
      const text = Buffer.from(`${'line of output\n'.repeat(10_000)}${KEY}\n`);
      for (let at = 0; at < text.length; at += 7) await output.write(text.subarray(at, at + 7));
      return await output.finish();
    });
    const { history, requests, results } = await run({ tools: [collect], artifacts: new FileArtifactStore(folder) });
    expect(results[0]).toContain('full output');
    expectClean(history, requests);
    const files = await contents(folder);
    expect(files.length).toBe(1);
    expect(files[0]).toContain(LABEL);
    expectClean(files.join(''));
  });

  it('heartbeat details of a tool', async () => {
    const beats = tool(async (ctx) => {
      ctx.heartbeat({ now: `calling with ${KEY}` });
      await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve, { once: true }));
      return 'stopped';
    });
    const on = await worker({ model: (_, n) => (n === 1 ? call(['act', {}]) : say('done')), tools: [beats], secrets: mask() });
    const beating = await start(on);
    const shown = async (): Promise<string> => {
      const { raw } = await beating.handle.describe();
      return (raw.pendingActivities ?? [])
        .map((pending) => Buffer.from(pending.heartbeatDetails?.payloads?.[0]?.data ?? []).toString())
        .join('');
    };
    await until(async () => (await shown()).includes(LABEL), 'the heartbeat with the masked key');
    expect(await shown()).not.toContain(KEY);
    await beating.handle.signal('cancel', {});
    await beating.result();
    expectClean(await historyText(beating));
  });

  it('what a model echoes: its answer, its arguments and its stream, however the pieces are cut', async () => {
    const events: StreamEvent[] = [];
    const { history, requests, result } = await run({
      tools: [tool(() => 'ok')],
      streams: { publish: (event) => void events.push(event), flush: () => Promise.resolve() },
      model: (request, n) => {
        if (n === 1) return call(['act', { header: `Bearer ${KEY}` }]);
        for (const piece of KEY) request.onDelta({ type: 'thinking', text: piece });
        for (const piece of `the key is ${KEY}, really`.match(/.{1,3}/gu) ?? []) request.onDelta({ type: 'text', text: piece });
        const thinking = { type: 'thinking', text: KEY, opaque: '{"signature":"of the original"}' } as const;
        return { ...say(`the key is ${KEY}, really`), parts: [thinking, ...say(`the key is ${KEY}, really`).parts] };
      },
    });
    expect(result.output).toBe(`the key is ${LABEL}, really`);
    expect(events.flatMap((event) => (event.type === 'text' ? [event.text] : [])).join('')).toBe(`the key is ${LABEL}, really`);
    expectClean(history, requests, events.map((event) => ('text' in event ? event.text : '')).join(''));
    expect(history).not.toContain('of the original');
  });

  it('the error of a provider', async () => {
    const on = await worker({
      model: () => {
        throw new ModelError('Model.Auth', `the gateway refused ${KEY}`);
      },
      secrets: mask(),
    });
    const refused = await start(on);
    await expect(refused.result()).rejects.toThrow('Workflow execution failed');
    const history = await historyText(refused);
    expect(history).toContain(`the gateway refused ${LABEL}`);
    expectClean(history);
  });

  it('the reason, the output and the changed arguments of a hook', async () => {
    const block = defineHook({
      name: 'block',
      on: 'before-tool',
      tools: ['act'],
      run: () => ({ action: 'block', reason: `not with ${KEY}` }),
    });
    const blocked = await run({ tools: [tool(() => 'ok')], hooks: [block] });
    expect(blocked.results[0]).toContain(`not with ${LABEL}`);
    expectClean(blocked.history, blocked.requests);
    const modify = defineHook({ name: 'modify', on: 'before-tool', tools: ['act'], run: () => ({ action: 'modify', args: { key: KEY } }) });
    const after = defineHook({ name: 'after', on: 'after-tool', run: ({ output }) => ({ action: 'modify', output: `${output} ${KEY}` }) });
    const modified = await run({ tools: [tool(() => 'ok')], hooks: [modify, after] });
    expect(modified.results[0]).toBe(`ok ${LABEL}`);
    expectClean(modified.history, modified.requests);
  });

  it('the correction of a completion gate and the reason of a gate function', async () => {
    let asked = 0;
    const { history, requests } = await run({
      tools: [tool(() => 'ok')],
      policy: { completion: { custom: true }, gateFunction: true },
      gate: () => ({ action: 'block', reason: `no ${KEY}` }),
      completionGate: () => {
        asked += 1;
        return asked === 1 ? { accept: false, correction: `again, with ${KEY}` } : { accept: true };
      },
    });
    expect(JSON.stringify(requests)).toContain(`again, with ${LABEL}`);
    expect(JSON.stringify(requests)).toContain(`no ${LABEL}`);
    expectClean(history, requests);
  });

  it('a prompt, tool descriptions and notices: the setup has the hash of what is stored, and its given text its place', () => {
    const setup = { agent: 'a', prompt: `use ${KEY} now: GIVEN`, tools: [], given: { from: 4 + KEY.length + 6, to: 4 + KEY.length + 11 } };
    const prepared = { setup, setupHash: hashJson(setup), notices: [`left out: ${KEY}`] } as unknown as PreparedRun;
    const masked = maskPrepared(prepared, mask());
    expect(masked.setup.prompt).toBe(`use ${LABEL} now: GIVEN`);
    expect(masked.setup.prompt.slice(masked.setup.given?.from, masked.setup.given?.to)).toBe('GIVEN');
    expect(masked.setupHash).toBe(hashJson(masked.setup));
    expect(masked.notices).toEqual([`left out: ${LABEL}`]);
  });

  it('a summary: its message has the hash of what is stored', async () => {
    const message: Message = { id: 's', role: 'user', origin: 'summary', parts: [{ type: 'text', text: `found ${KEY}` }] };
    const compact = () => Promise.resolve({ messages: [{ message, hash: hashMessage(message) }], usage: {} as never, note: KEY });
    const result = await maskedBy({ compact }).compact({} as never);
    expect(result.messages[0]?.message.parts).toEqual([{ type: 'text', text: `found ${LABEL}` }]);
    expect(result.messages[0]?.hash).toBe(hashMessage(result.messages[0]?.message ?? message));
    expect(result.note).toBe(LABEL);
  });

  it('a failure: message, stack, details and causes; its type, delay and retryability stay', async () => {
    const details = [{ requestId: KEY, status: 429 }];
    const given = new ApplicationFailure(`slow down, ${KEY}`, 'Model.RateLimited', false, details, new RangeError(KEY), 7_000);
    const thrown = await maskedBy({ callModel: () => Promise.reject(given) })
      .callModel({} as never)
      .catch((error: unknown) => error);
    expect(thrown).toMatchObject({
      type: 'Model.RateLimited',
      nonRetryable: false,
      nextRetryDelay: given.nextRetryDelay,
      details: [{ requestId: LABEL, status: 429 }],
      cause: { name: 'RangeError', message: LABEL },
    });
    const { message, stack } = thrown as Error;
    expectClean(`${message} ${stack}`);
  });

  it('a failure and a result without a key are passed on as they are', async () => {
    const given = failure('Model.Auth', 'refused');
    const activities = maskedBy({ callModel: () => Promise.reject(given) });
    await expect(activities.callModel({} as never)).rejects.toBe(given);
  });

  async function run(options: Partial<AgentWorkerOptions>) {
    const requests: ModelRequest[] = [];
    const model: AgentWorkerOptions['model'] = options.model ?? ((_, n) => (n === 1 ? call(['act', {}]) : say('done')));
    const on = await worker({
      secrets: mask(),
      ...options,
      model: (request, n) => {
        requests.push(request);
        return model(request, n);
      },
    });
    const started = await start(on);
    const result = await started.result();
    const messages = await started.messages();
    return { history: await historyText(started), requests, result, messages, results: resultTexts(messages) };
  }
});

function expectClean(...given: readonly (string | readonly ModelRequest[])[]): void {
  const text = given
    .map((part) => (typeof part === 'string' ? part : JSON.stringify(part.map(({ messages, prompt }) => [messages, prompt]))))
    .join('\n');
  for (const form of FORMS) expect(text).not.toContain(form);
}

function mask(): SecretMask {
  return new SecretMask(() => SECRETS);
}

function maskedBy(activities: Partial<AgentActivities>): AgentActivities {
  return maskActivities(activities as AgentActivities, mask());
}

function tool(execute: (context: ToolContext) => unknown) {
  return defineTool({
    name: 'act',
    description: 'acts',
    parameters: z.looseObject({}),
    effect: 'once',
    execute: (_, context) => execute(context) as never,
  });
}

async function contents(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return await Promise.all(files.map((file) => readFile(file, 'utf8')));
}
