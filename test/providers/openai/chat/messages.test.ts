import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ContentPart, Message, Part } from '../../../../src/contracts/schemas/message.js';
import type { ProviderQuirks } from '../../../../src/define/provider-quirks.js';
import { toOpenAiMessages } from '../../../../src/providers/openai/chat/messages.js';
import { parseChatRequest } from '../../../../src/providers/openai/chat/server/request.js';
import { checkChatRules } from '../../../../src/providers/openai/chat/server/rules.js';
import { cpuMs } from '../../../support/cpu-time.js';
import { call, message, result, text } from '../../support/message-parts.js';

const PIXEL = { type: 'file', mime: 'image/png', dataBase64: 'aGk=' } as const;
const PDF = { type: 'file', mime: 'application/pdf', dataBase64: 'aGk=' } as const;
const ARTIFACT = { type: 'artifact', ref: 'sha256-1', bytes: 90_000, head: 'first lines' } as const;
const SHOWN_PIXEL = { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } };

/** Pairs of roles that a server which wants them to alternate would refuse. */
function unevenRoles(sent: readonly { readonly role: string }[]): string[] {
  const roles = sent.map(({ role }) => role).filter((role) => role !== 'system' && role !== 'developer');
  const pairs = roles.map((role, index) => `${roles[index - 1] ?? 'nobody'} then ${role}`);
  return pairs.filter((pair) => ['user then user', 'tool then user', 'nobody then assistant'].includes(pair));
}

function timesSaid(value: unknown): number {
  return JSON.stringify(value).split('Words.').length;
}

function toOpenAi(prompt: string, messages: readonly Message[], quirks: ProviderQuirks = {}) {
  return toOpenAiMessages({ model: 'm', prompt, messages, tools: [] }, { baseUrl: 'http://127.0.0.1:1/v1', quirks });
}

describe('toOpenAiMessages', () => {
  it('puts the prompt first, then each message, and each result in a message of its own', () => {
    const messages = [
      message('user', 'Begin.'),
      message('assistant', 'I will.', call('c1'), call('c2')),
      message('tool', result('c1', text('one')), result('c2')),
    ];
    expect(toOpenAi('You help.', messages)).toEqual([
      { role: 'system', content: 'You help.' },
      { role: 'user', content: 'Begin.' },
      {
        role: 'assistant',
        content: 'I will.',
        tool_calls: ['c1', 'c2'].map((id) => ({ id, type: 'function', function: { name: 'note', arguments: '{"line":1}' } })),
      },
      { role: 'tool', tool_call_id: 'c1', content: 'one' },
      { role: 'tool', tool_call_id: 'c2', content: expect.stringMatching(/\S/u) },
    ]);
  });

  it('says with a result which tool it is of where a server looks for it there, as Gemini does', () => {
    const messages = [message('assistant', call('c1'), call('c2')), message('tool', result('c1', text('one')), result('c2', text('two')))];
    const named = toOpenAi('', messages, { thoughtSignatures: true }).filter(({ role }) => role === 'tool');
    expect(named).toEqual([
      { role: 'tool', tool_call_id: 'c1', name: 'note', content: 'one' },
      { role: 'tool', tool_call_id: 'c2', name: 'note', content: 'two' },
    ]);
    expect(JSON.stringify(toOpenAi('', messages).slice(1))).not.toContain('"name"');
  });

  it('gives an answer that only calls an empty text where a server refuses it without, as LM Studio does', () => {
    const messages = [message('assistant', call('c1')), message('tool', result('c1', text('one')))];
    expect(toOpenAi('', messages)[0]).toMatchObject({ content: null });
    expect(toOpenAi('', messages, { emptyContent: true })[0]).toMatchObject({ content: '' });
  });

  it('sends no prompt when there is none, and no thinking', () => {
    const messages = [message('assistant', { type: 'thinking', text: 'hm' }, 'Done.')];
    expect(toOpenAi('', messages)).toEqual([{ role: 'assistant', content: 'Done.' }]);
  });

  it('sends arguments that were no object as none', () => {
    const [assistant] = toOpenAi('', [message('assistant', call('c1', { args: {}, argsText: '{"li' }))]);
    expect(assistant).toMatchObject({ content: null, tool_calls: [{ function: { arguments: '{}' } }] });
  });

  it('sends images as images, artifacts by their beginning and name', () => {
    const url = { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } };
    expect(toOpenAi('', [message('user', PIXEL), message('user', 'Look:', PIXEL, ARTIFACT)])).toEqual([
      { role: 'user', content: [url] },
      { role: 'user', content: [{ type: 'text', text: expect.stringMatching(/Look:\nfirst lines\n.*sha256-1/u) }, url] },
    ]);
  });
});

describe('pictures and files over chat completions', () => {
  it('of results follow the last result of a row, before whatever comes next', () => {
    const messages = [
      message('assistant', call('c1'), call('c2')),
      message('tool', result('c1', text('see'), PIXEL)),
      message('tool', result('c2', PIXEL)),
      message('user', 'And?'),
    ];
    const sent = toOpenAi('', messages);
    expect(sent.map(({ role }) => role)).toEqual(['assistant', 'tool', 'tool', 'user', 'user']);
    expect(sent[1]).toMatchObject({ content: 'see\n[file image/png]' });
    expect(sent[3]).toMatchObject({ content: [{ type: 'text' }, SHOWN_PIXEL, SHOWN_PIXEL] });
  });

  it('are named for a model without pictures', () => {
    const messages = [message('user', 'See:', PIXEL), message('assistant', call('c1')), message('tool', result('c1', PIXEL))];
    const sent = toOpenAi('', messages, { images: false });
    expect(sent.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
    expect([sent[0], sent[2]]).toMatchObject([{ content: 'See:\n[file image/png]' }, { content: '[file image/png]' }]);
  });

  it("go as files to OpenAI's own servers and those that are said to take them, and are named elsewhere", () => {
    const request = { model: 'm', prompt: '', messages: [message('user', PDF)], tools: [] };
    const shown = [{ content: [{ type: 'file', file: { filename: 'document.pdf', file_data: 'data:application/pdf;base64,aGk=' } }] }];
    expect(toOpenAiMessages(request, { baseUrl: 'https://api.openai.com/v1' })).toMatchObject(shown);
    expect(toOpenAi('', request.messages, { files: true })).toMatchObject(shown);
    expect(toOpenAi('', request.messages)).toEqual([{ role: 'user', content: '[file application/pdf]' }]);
  });

  it('of text are told as their text', () => {
    const notes = {
      type: 'file',
      mime: 'text/markdown',
      ref: 'notes.md',
      dataBase64: Buffer.from('# Größe\n').toString('base64'),
    } as const;
    expect(toOpenAi('', [message('user', notes)])).toEqual([{ role: 'user', content: '[file text/markdown notes.md]\n# Größe\n' }]);
  });
});

describe('the ways of servers of chat completions', () => {
  it.each(['system', 'developer'] as const)('the prompt has the role %s where that is its name', (systemRole) => {
    expect(toOpenAi('You help.', [message('user', 'Hi.')], { systemRole })[0]).toEqual({ role: systemRole, content: 'You help.' });
  });

  it('the prompt stands before the first words of the user for models without a role for it', () => {
    const quirks = { systemRole: 'user' } as const;
    expect(toOpenAi('You help.', [message('user', 'Hi.')], quirks)).toEqual([{ role: 'user', content: 'You help.\n\nHi.' }]);
    expect(toOpenAi('You help.', [message('user', 'Hi.', PIXEL)], quirks)).toMatchObject([
      { role: 'user', content: [{ text: 'You help.' }, { text: 'Hi.' }, SHOWN_PIXEL] },
    ]);
    expect(toOpenAi('You help.', [message('assistant', 'Hi.')], quirks).map(({ role }) => role)).toEqual(['user', 'assistant']);
  });

  it('ids of calls have the exact length that is asked for, the same in call and result, and one for each call', () => {
    const ids = Array.from({ length: 300 }, (_, index) => `run_${index}_0`);
    const messages = ids.flatMap((id) => [message('assistant', call(id)), message('tool', result(id, text('ok')))]);
    const sent = JSON.stringify(toOpenAi('', messages, { callIdChars: 9 }));
    const found = [...sent.matchAll(/"(?:id|tool_call_id)":"([^"]*)"/gu)].map(([, id]) => id ?? '');
    expect(found).toHaveLength(600);
    expect(found.every((id) => /^[a-zA-Z0-9]{9}$/u.test(id))).toBe(true);
    for (let at = 0; at < found.length; at += 2) expect(found[at]).toBe(found[at + 1]);
    expect(new Set(found).size).toBe(300);
    expect(toOpenAi('', messages.slice(0, 20), { callIdChars: 9 })).toEqual(JSON.parse(sent).slice(0, 20));
  });

  const part = fc.constantFrom<Part>(text('Words.'), text(''), PIXEL, ARTIFACT, { type: 'thinking', text: 'hm' });
  const said = fc.record({ role: fc.constantFrom('user' as const, 'assistant' as const), parts: fc.array(part, { maxLength: 3 }) });
  const called = fc.array(fc.array(fc.constantFrom<ContentPart>(text('ok'), PIXEL), { maxLength: 2 }), { minLength: 1, maxLength: 3 });
  const transcript = fc.array(fc.oneof(said, called), { minLength: 1, maxLength: 12 }).map((steps) => {
    const messages = steps.flatMap((step, index) => {
      if (!Array.isArray(step)) return [message(step.role, ...step.parts)];
      const calls = step.map((_, at) => call(`c${index}_${at}`));
      return [message('assistant', ...calls), ...step.map((parts, at) => message('tool', result(`c${index}_${at}`, ...parts)))];
    });
    return [...messages, message('user', 'Go on.')];
  });
  const quirks = fc.record<ProviderQuirks>(
    {
      mergesRoles: fc.boolean(),
      images: fc.boolean(),
      systemRole: fc.constantFrom('system', 'developer', 'user'),
      callIdChars: fc.constantFrom(6, 9, 40),
    },
    { requiredKeys: [] },
  );

  it('whatever the transcript and the ways, a strict server takes it, roles alternate where they must, and nothing said is lost', () => {
    fc.assert(
      fc.property(transcript, quirks, fc.constantFrom('', 'You help.'), (messages, ways, prompt) => {
        const sent = toOpenAi(prompt, messages, ways);
        checkChatRules(parseChatRequest({ model: 'm', messages: sent }));
        expect(ways.mergesRoles ? unevenRoles(sent) : []).toEqual([]);
        expect(timesSaid(sent)).toBe(timesSaid(messages));
      }),
    );
  });

  it('the messages of a longer transcript begin with those of a shorter one', () => {
    fc.assert(
      fc.property(
        transcript,
        quirks.filter(({ mergesRoles }) => !mergesRoles),
        (messages, ways) => {
          const longer = [...messages, message('assistant', 'More.'), message('user', 'And more.')];
          const shorter = toOpenAi('You help.', messages, ways);
          expect(toOpenAi('You help.', longer, ways).slice(0, shorter.length)).toEqual(shorter);
        },
      ),
    );
  });
});

it('400 messages are written in at most 5 ms', () => {
  const messages = Array.from({ length: 100 }, (_, index) => [
    message('user', 'Words '.repeat(40)),
    message('assistant', 'I will.', call(`c${index}_0`, { args: { path: 'a.md', text: 'x'.repeat(500) } }), call(`c${index}_1`)),
    message('tool', result(`c${index}_0`, text('ok '.repeat(200)))),
    message('tool', result(`c${index}_1`, text('ok'))),
  ]).flat();
  const times = Array.from({ length: 15 }, () => {
    const startedAt = cpuMs();
    JSON.stringify(toOpenAi('You help.', messages, { callIdChars: 9 }));
    return cpuMs() - startedAt;
  });
  expect(Math.min(...times)).toBeLessThan(5);
});
