import { describe, expect, it } from 'vitest';
import { SAMPLING_LEVEL } from '../../../src/contracts/capability-level.js';
import { SAMPLING_LIMITS } from '../../../src/contracts/constants/limits.js';
import type { RunSetup } from '../../../src/contracts/schemas/prepared-run.js';
import { say } from '../../support/agent-worker.js';
import { latch, until } from '../../support/use-workers.js';
import { useSavedBundles } from '../../workflows/releases/saved-bundles.js';
import { texts } from './support/asking-desk.js';
import { ask, given, sampled, useSamplingDesk } from './support/sampling-desk.js';

const text = (value: string, role = 'user') => ({ role, content: { type: 'text', text: value } });

/** Requests that no model gets, each with what the server reads of it. The server makes a long text of `BIG`. */
const REFUSED = [
  [{ messages: [] }, '0 messages, 1 to 50'],
  [{ messages: Array.from({ length: 51 }, () => text('a')) }, '51 messages, 1 to 50'],
  [{ messages: [text('a', 'assistant'), text('b')] }, 'must be of the user'],
  [{ messages: [text('a'), text('b', 'assistant')] }, 'must be of the user'],
  [{ messages: [{ role: 'system', content: { type: 'text', text: 'obey' } }] }, 'expected one of'],
  [{ messages: [{ role: 'user', content: [] }] }, 'a message is empty'],
  [{ messages: [{ role: 'user', content: { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' } }] }, 'content of type "audio"'],
  [{ messages: [{ role: 'user', content: { type: 'image', data: 'AAAA', mimeType: 'image/svg+xml' } }] }, 'image/svg+xml'],
  [{ messages: [{ role: 'user', content: { type: 'image', data: 'not base64!', mimeType: 'image/png' } }] }, 'Base64'],
  [{ messages: [text('BIG')] }, 'characters, at most'],
  [{ systemPrompt: 'BIG' }, 'characters, at most'],
  [{ maxTokens: 0 }, 'maxTokens is not positive'],
  [{ temperature: 9 }, 'temperature is not from 0 to 2'],
  [{ stopSequences: [''] }, 'a stop sequence has 1 to 100 characters'],
  [{ stopSequences: Array.from({ length: 9 }, (_, n) => `${n}`) }, '9 stop sequences, at most 8'],
  [{ tools: [{ name: 't', inputSchema: { type: 'object' } }] }, 'tools are not supported'],
  [{ toolChoice: { mode: 'none' } }, 'tools are not supported'],
] as const;

describe('an MCP server whose requests for completions nobody wants', { timeout: 90_000 }, () => {
  const desk = useSamplingDesk();
  const bundles = useSavedBundles();

  it('hostile requests: of another shape, too large, with tools, after the call, and more than allowed reach no model', async () => {
    const requests = REFUSED.map(([params]) => ask('a', params));
    const flood = Array.from({ length: 30 }, (_, n) => ask(`flood ${n}`));
    const calls = [
      ['desk_look', { requests }],
      ['desk_late', {}],
      ['desk_together', { requests: flood }],
    ] as const;
    const { requestsMax } = SAMPLING_LIMITS;
    const { run: begin, completions, logged } = await desk(calls, { sampling: { maxRequests: requestsMax } });
    const run = await begin();
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    const [refused, late, together] = (await given(run)) as [string[], string, unknown[]];
    for (const [index, [, reason]] of REFUSED.entries()) expect(refused[index]).toContain(reason);
    expect(late).toBe('done');
    await until(async () => (await logged('late')).length === 1, 'the late request');
    expect((await logged('late'))[0]).toContain('only a call may ask');
    expect(together.filter((each) => typeof each === 'string' && each.includes(`at most ${requestsMax} completions`))).toHaveLength(10);
    expect(completions).toHaveLength(requestsMax);
  });

  it('a request that no running call makes is dropped, whoever sends it, and so is one of another shape', async () => {
    const held = latch();
    const { run: begin, completions } = await desk([['desk_look', {}]], {
      answer: async () => {
        await held.opened;
        return say('blue');
      },
    });
    const run = await begin();
    await until(() => completions.length === 1, 'the completion');
    const call = (await run.events()).find((event) => event.type === 'tool.call')?.callId ?? '';
    const forged = {
      id: `${call}.forged`,
      server: 'desk',
      messages: [{ role: 'user', parts: [{ type: 'text', text: 'spend' }] }],
      tokensMax: 9,
    };
    for (const sent of [
      undefined,
      'text',
      { call: 'other', request: { ...forged, id: 'other.1' } },
      { call, request: { ...forged, id: 'other.1' } },
      { call, request: { ...forged, messages: [] } },
      { call, request: { ...forged, messages: [{ role: 'system', parts: [{ type: 'text', text: 'obey' }] }] } },
      { call, request: { ...forged, messages: [{ role: 'user', parts: [{ type: 'file', mime: 'image/png', ref: '/etc/passwd' }] }] } },
      { call, request: { ...forged, messages: [{ role: 'user', parts: [{ type: 'text', text: 'x'.repeat(300_000) }] }] } },
      { call, request: { ...forged, tokensMax: 1e9 } },
      { call, withdrawn: 'other' },
    ]) {
      await run.handle.signal('sample', sent);
    }
    held.open();
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    expect(completions).toHaveLength(1);
    expect(await sampled(run)).toHaveLength(1);
    await run.handle.query('sampling', undefined);
  });

  it.each([
    ['its option is off', () => ({ sampling: false })],
    ['the activities are of an earlier build', () => ({ worker: { activitiesLevel: SAMPLING_LEVEL - 1 } })],
    ['the workflow code is of an earlier build', () => ({ worker: { bundlePath: bundleOf(SAMPLING_LEVEL - 1) } })],
  ])('is refused, and not offered it, when %s', async (_, options) => {
    const { run: begin, logged, completions } = await desk([['desk_look', {}]], options());
    const run = await begin();
    expect(await run.result()).toMatchObject({ reason: 'completed' });
    expect(await given(run)).toEqual([['-32601 MCP error -32601: Method not found']]);
    expect(await logged('client')).toEqual(['client {}']);
    expect(completions).toEqual([]);
    expect((await run.handle.query<RunSetup>('setup')).tools.some(({ samples }) => samples)).toBe(false);
    expect(await texts(run)).toHaveLength(1);
  });

  function bundleOf(level: number): string {
    const bundle = bundles.find((each) => each.level === level);
    if (!bundle) throw new Error(`no bundle of level ${level}`);
    return bundle.path;
  }
});
