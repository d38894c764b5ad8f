import { describe, expect, it } from 'vitest';
import type { ScriptStepInput } from '../../../src/providers/scripted/script.js';
import { type WireServer } from '../../../src/testing/wire-server.js';
import { useModels } from '../../e2e/support/use-models.js';
import { ask, bodyOf, FORMATS, post, streamedBodyOf } from '../support/wire-client.js';

type Fault = NonNullable<ScriptStepInput['fault']>;

const model = useModels();

/** The kinds of events that not every format has. */
const OWN_KINDS = {
  'openai-chat': ['finish', 'usage'],
  'openai-responses': ['block_start', 'block_end'],
  anthropic: ['ping', 'block_start', 'block_end', 'finish'],
} as const;

const STEP = { thinking: 'Hm.', text: 'Größe: one two.', toolCalls: [{ name: 'read_file', args: { path: 'a.md' } }] };

describe.each(FORMATS)('a fault over the wire (%s)', (format) => {
  const body = streamedBodyOf(format);

  it('of a status comes as often as it says, with its Retry-After, then the answer', async () => {
    const server = await start({ status: 429, retryAfter: 7, times: 2 });
    for (const _ of [1, 2]) {
      const reply = await ask(server, format, body);
      expect(reply.status).toBe(429);
      expect(reply.headers.get('retry-after')).toBe('7');
      expect(JSON.parse(reply.text)).toMatchObject({ error: { type: format === 'anthropic' ? 'rate_limit_error' : 'requests' } });
    }
    expect((await ask(server, format, body)).status).toBe(200);
    expect(server.requests.map((request) => request.outcome)).toEqual(['faulted', 'faulted', 'answered']);
    expect(server.requestsOf(0)).toBe(3);
  });

  it('of a prompt too long is told in the words of the API', async () => {
    const server = await start({ status: 400, code: 'context_length_exceeded' });
    const reply = await ask(server, format, body);
    expect(reply.text).toMatch(
      format === 'anthropic' ? /prompt is too long: \d+ tokens > \d+ maximum/u : /"code":"context_length_exceeded"/u,
    );
  });

  it('that ends the body at a byte gives exactly the first bytes of the answer, and no error', async () => {
    const whole = Buffer.from(await wholeAnswer(format));
    for (const cutAfterBytes of [0, 1, 40, whole.length - 1]) {
      const server = await start({ cutAfterBytes });
      const response = await post(server, format, body);
      const bytes = Buffer.from(await response.arrayBuffer());
      expect(unstamped(bytes.toString('latin1'))).toBe(unstamped(whole.subarray(0, cutAfterBytes).toString('latin1')));
    }
  });

  it.each(['close', 'reset'] as const)('that breaks the connection by %s is an error for the reader', async (by) => {
    const server = await start({ cutAfterBytes: 60, by });
    await expect(ask(server, format, body)).rejects.toThrow(/terminated|fetch failed/u);
    const atOnce = await start({ cutAfterBytes: 0, by });
    await expect(post(atOnce, format, body)).rejects.toThrow('fetch failed');
    expect(atOnce.requests).toMatchObject([{ outcome: 'faulted', fault: { by } }]);
  });

  it('after a kind of event sends that event and nothing after it', async () => {
    const whole = unstamped(await wholeAnswer(format));
    const kinds = ['start', 'thinking', 'text', 'tool_call', 'arguments', 'done'] as const;
    const own = OWN_KINDS[format];
    const lengths: number[] = [];
    for (const cutAfterEvent of [...kinds, ...own]) {
      const server = await start({ cutAfterEvent });
      const { text } = await ask(server, format, body);
      expect(whole.startsWith(unstamped(text))).toBe(true);
      expect(text.endsWith('\n\n')).toBe(true);
      lengths.push(text.length);
    }
    expect(new Set(lengths).size).toBe(kinds.length + own.length);
    expect(lengths.slice(0, kinds.length)).toEqual(lengths.slice(0, kinds.length).toSorted((a, b) => a - b));
  });

  it('after an event that the answer does not have is refused loudly', async () => {
    const server = await start({ cutAfterEvent: 'arguments' }, { text: 'no call' });
    expect(await ask(server, format, body)).toMatchObject({ status: 400, text: expect.stringContaining('no such event') });
    expect(server.requests).toMatchObject([{ outcome: 'refused', problem: expect.stringContaining('"arguments"') }]);
  });

  it('that stalls sends nothing more until the client leaves', async () => {
    const server = await start({ stall: true, afterEvent: 'text' });
    const leave = new AbortController();
    const response = await post(server, format, body, { signal: leave.signal });
    const reader = response.body?.getReader();
    const first = await reader?.read();
    expect(Buffer.from(first?.value ?? []).toString()).toContain('Größe:');
    const silence = reader?.read();
    leave.abort();
    await expect(silence).rejects.toThrow('aborted');
    await expect.poll(() => server.requests[0]?.outcome).toBe('gone');
  });

  it('that stalls before the headers lets the client wait for them', async () => {
    const server = await start({ stall: true });
    const leave = new AbortController();
    const waiting = Promise.allSettled([post(server, format, body, { signal: leave.signal })]);
    await expect.poll(() => server.requests[0]?.fault).toBeDefined();
    leave.abort();
    expect(await waiting).toMatchObject([{ status: 'rejected', reason: { name: 'AbortError' } }]);
  });

  it('that trickles sends pings and no more', async () => {
    const server = await start({ stall: true, pingEveryMs: 1 });
    const leave = new AbortController();
    const response = await post(server, format, body, { signal: leave.signal });
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString();
      if ((text.match(/ping/gu)?.length ?? 0) >= 6) break;
    }
    leave.abort();
    expect(text).not.toMatch(/delta|choices/u);
  });

  it('within the stream is an error event, and the last one', async () => {
    const server = await start({ streamError: 'overloaded_error', message: 'Overloaded', afterEvent: 'text' });
    const { status, text } = await ask(server, format, body);
    expect(status).toBe(200);
    const last = text.trimEnd().split('\n').at(-1) ?? '';
    const event: unknown = JSON.parse(last.replace('data: ', ''));
    expect(event).toMatchObject(
      format === 'openai-responses'
        ? { type: 'error', code: 'overloaded_error', message: 'Overloaded', sequence_number: (text.match(/^data: /gmu)?.length ?? 0) - 1 }
        : { error: { type: 'overloaded_error', message: 'Overloaded' } },
    );
  });

  it('may be a web page, or a redirect', async () => {
    const page = await ask(await start({ html: true }), format, body);
    expect(page).toMatchObject({ status: 200, text: expect.stringContaining('<!doctype html>') });
    const moved = await ask(await start({ redirect: 'http://127.0.0.1:9/elsewhere' }), format, body);
    expect(moved.status).toBe(307);
    expect(moved.headers.get('location')).toBe('http://127.0.0.1:9/elsewhere');
  });

  it('of one conversation does not touch another one', async () => {
    const server = await start({ status: 500 });
    expect((await ask(server, format, body)).status).toBe(500);
    const other = bodyOf(format, { messages: [{ role: 'user', content: 'Another task.' }] });
    expect((await ask(server, format, other)).status).toBe(500);
    expect((await ask(server, format, body)).status).toBe(200);
  });
});

async function start(fault: Fault, step: ScriptStepInput = STEP): Promise<WireServer> {
  return await model({ script: { steps: [{ ...step, fault }] } });
}

async function wholeAnswer(format: (typeof FORMATS)[number]): Promise<string> {
  const server = await model({ script: { steps: [STEP] } });
  return (await ask(server, format, streamedBodyOf(format))).text;
}

/** Two answers to the same request differ only in the second they were made. */
function unstamped(text: string): string {
  return text.replaceAll(/"created(_at)?":\d+/gu, '"created$1":0');
}
