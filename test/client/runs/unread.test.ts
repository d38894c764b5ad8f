import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { afterEach, describe, expect, inject, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { AgentClient } from '../../../src/client/agent-client.js';
import { STEER_LIMITS } from '../../../src/contracts/constants/limits.js';
import { textOf } from '../../../src/contracts/message-text.js';
import type { TranscriptPage, UnreadPage } from '../../../src/contracts/schemas/page.js';

import { defineTool } from '../../../src/define/define-tool.js';
import { createDataConverter } from '../../../src/worker/data-converter.js';
import { type AgentWorker, call, say } from '../../support/agent-worker.js';
import { latch, type TestRun, until, untilAborted, useWorkers } from '../../support/use-workers.js';

/** Quotes, line breaks and pairs of surrogates: what takes more room in JSON, and what must not be cut in two. */
const LONG = Array.from({ length: 12_000 }, (_, n) => `"${n}" 👩‍🚀\n`).join('');

const wait = defineTool({
  name: 'wait',
  description: 'Waits until it is aborted.',
  parameters: z.strictObject({}),
  effect: 'read',
  execute: (_, { signal }) => untilAborted(signal),
});

describe('messages that nobody read', () => {
  const { worker, start } = useWorkers();
  const clients: AgentClient[] = [];
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((each) => each.close()));
  });

  it('A9: a terminated run reports all of them, whole, and its continuation gets them', async () => {
    const on = await worker({ model: (_, n) => (n === 1 ? call(['wait', {}]) : say('ok')), tools: [wait] });
    const run = await start(on);
    await inTools(run);
    const agents = await connect(on);
    const texts = [LONG, ...Array.from({ length: 5 }, (_, n) => `${n} ${'x'.repeat(100_000)}`)];
    for (const [n, text] of texts.entries()) await agents.get(run.runId).steer({ id: `s${n}`, text });
    await until(async () => (await run.progress()).inbox === texts.length, 'all messages in the inbox');
    await run.handle.terminate('enough');

    const expected = texts.map((text, n) => ({ id: `s${n}`, text }));
    const result = await agents.get(run.runId).result();
    expect(result).toMatchObject({ reason: 'error', error: { type: 'Run.Terminated' } });
    expect(result.unconsumed).toEqual(expected);
    expect(result).not.toHaveProperty('unconsumedCut');
    expect(await agents.get(run.runId).unread()).toEqual(expected);

    const continued = await agents.get(run.runId).continue();
    expect(await continued.run.result()).toMatchObject({ reason: 'completed', unconsumed: [] });
    const sent = on.requests.at(-1)?.messages.map(textOf) ?? [];
    expect(sent.slice(-texts.length - 1)).toEqual([...texts, 'Continue.']);
    // a message of half a megabyte is in its transcript now: an outsider reads it page by page
    const read: string[] = [];
    for await (const page of continued.run.transcript({ bytesMax: 190_000 })) read.push(...page.messages.map(textOf));
    expect(read.slice(-texts.length - 2)).toEqual([...texts, 'Continue.', 'ok']);
  });

  it('A9: a cancelled run says when its result has not all of them, and a client fills them in', async () => {
    const on = await worker({ model: (_, n) => (n === 1 ? call(['wait', {}]) : say('ok')), tools: [wait], policy: {} });
    const run = await start(on);
    await inTools(run);
    await run.handle.signal('steer', { id: 'long', text: LONG });
    await run.handle.signal('cancel');
    const plain = await run.result();
    expect(plain).toMatchObject({ reason: 'cancelled', unconsumedCut: true, unconsumed: [{ id: 'long' }] });
    expect(plain.unconsumed[0]?.text.length).toBeLessThan(LONG.length);
    const agents = await connect(on);
    const whole = await agents.get(run.runId).result();
    expect(whole.unconsumed).toEqual([{ id: 'long', text: LONG }]);
    expect(whole).not.toHaveProperty('unconsumedCut');
  });

  it('A10: a plain client reads a large message in parts, which joined are its JSON', async () => {
    const gate = latch();
    const on = await worker({ model: (_, n) => (n === 1 ? gate.opened.then(() => say('ok')) : say('ok')) });
    const run = await start(on);
    await until(() => on.requests.length === 1, 'the first request');
    await run.handle.signal('steer', { id: 'long', text: LONG });
    const plain = new Client({ connection: on.client.connection }).workflow.getHandle(run.runId);
    expect(JSON.parse(await joined((offset) => plain.query<UnreadPage, [object]>('unread', { offset })))).toEqual({
      id: 'long',
      text: LONG,
    });
    gate.open();
    await plain.result();
    const page = (offset: number) => plain.query<TranscriptPage, [object]>('transcript', { from: 2, offset, bytesMax: 100_000 });
    expect(JSON.parse(await joined(page))).toMatchObject({ id: 'long', parts: [{ type: 'text', text: LONG }] });
    // readers of earlier versions do not know parts
    const [whole] = (await plain.query<TranscriptPage, [object]>('transcript', { from: 2 })).messages;
    expect(whole && textOf(whole)).toBe(LONG);
  });

  it('A9: a continuation whose answer was lost is found again, and another text makes another run', async () => {
    const on = await worker({ model: () => say('ok') });
    const agents = await connect(on);
    const { run } = await agents.start({ id: `again-${randomUUID()}`, task: 'do it' });
    await run.result();
    const first = await run.continue({ text: 'go on' });
    const again = await run.continue({ text: 'go on' });
    expect([first.duplicate, again.duplicate, again.run.runId, again.executionId]).toEqual([
      false,
      true,
      first.run.runId,
      first.executionId,
    ]);
    const other = await run.continue({ text: 'go elsewhere' });
    expect([other.duplicate, other.run.runId]).toEqual([false, `${run.runId}.3`]);
    expect((await run.continue({ text: 'go elsewhere' })).run.runId).toBe(`${run.runId}.3`);
  });

  it('A9, A15: a full inbox refuses a message, and goes on to work', async () => {
    const gate = latch();
    // the run goes on in a fresh history, to which it carries all of them
    const artifactsDir = await mkdtemp(join(tmpdir(), 'perdure-artifacts-'));
    onTestFinished(() => rm(artifactsDir, { recursive: true, force: true }));
    const dataConverter = createDataConverter({ artifactsDir });
    const on = await worker({ model: (_, n) => (n === 1 ? gate.opened.then(() => say('ok')) : say('ok')), policy: {}, dataConverter });
    const run = await start(on);
    await until(() => on.requests.length === 1, 'the first request');
    const text = 'x'.repeat(1_000_000);
    const count = Math.floor(STEER_LIMITS.unreadCharsMax / text.length);
    for (let n = 0; n < count; n += 1) await run.handle.signal('steer', { id: `m${n}`, text: `${n}${text}` });
    await until(async () => (await run.progress()).inbox === count, 'all messages in the inbox');
    const agents = await connect(on);
    const late = agents.get(run.runId).submit({ id: 'late', text });
    await expect(late).rejects.toMatchObject({ code: 'INBOX_FULL', exitCode: 4 });
    await run.handle.signal('steer', { id: 'later', text });
    await until(
      async () => (await agents.get(run.runId).steers()).some(({ id, state }) => id === 'later' && state === 'refused'),
      'the refusal',
    );
    await run.handle.signal('steer', { id: 'short', text: 'still fits' });
    gate.open();
    expect(await run.result()).toMatchObject({ reason: 'completed', unconsumed: [] });
    const { steers = [] } = await run.result();
    expect(steers.filter(({ state }) => state === 'delivered')).toHaveLength(count + 1);
  });

  async function connect({ taskQueue }: AgentWorker): Promise<AgentClient> {
    const agents = await AgentClient.connect({ address: inject('temporalAddress'), taskQueue });
    clients.push(agents);
    return agents;
  }
});

async function inTools(run: TestRun): Promise<void> {
  await until(async () => (await run.progress()).phase === 'tools', 'the tool');
}

/** The parts of the first message, joined. */
async function joined(ask: (offset: number) => Promise<TranscriptPage | UnreadPage>): Promise<string> {
  let text = '';
  for (let { part } = await ask(0); part; { part } = await ask(text.length)) {
    expect(Buffer.byteLength(JSON.stringify(part))).toBeLessThan(192 * 1_024);
    text += part.text;
    if (part.next === part.length) break;
  }
  return text;
}
