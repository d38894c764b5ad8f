import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PerdureError } from '../../../src/contracts/perdure-error.js';
import { Reason } from '../../../src/contracts/schemas/run.js';
import { AnswerUpdates } from '../../../src/gateway/acp/answer-updates.js';
import { editorCall, endedContent } from '../../../src/gateway/acp/editor-call.js';
import { stopReasonOf } from '../../../src/gateway/acp/stop-reason.js';
import type { UiChunk } from '../../../src/gateway/http/chat/ui-chunk.js';

const WORKSPACE = '/srv/project';
const text = (delta: string): UiChunk => ({ type: 'text-delta', id: '', delta });

/** What the editor shows for chunks: the texts of its messages. */
function shown(chunks: readonly UiChunk[]): string[] {
  const updates = new AnswerUpdates({ runId: 'r', workspace: WORKSPACE });
  const texts = new Map<string, string>();
  for (const update of chunks.flatMap((chunk) => updates.chunk(chunk))) {
    if (update.sessionUpdate !== 'agent_message_chunk' || update.content.type !== 'text') continue;
    const id = update.messageId ?? '';
    texts.set(id, (texts.get(id) ?? '') + update.content.text);
  }
  return [...texts.values()];
}

describe('AnswerUpdates', () => {
  it('shows a text once that a second attempt repeats, and what is new of it', () => {
    const again: UiChunk = { type: 'reset-step' };
    expect(shown([{ type: 'start-step' }, text('Hello '), text('wor'), again, text('Hel'), text('lo world'), text('.')])).toEqual([
      'Hello world.',
    ]);
  });

  it('shows another text as a message of its own, and marks the one before', () => {
    expect(shown([{ type: 'start-step' }, text('Hello '), { type: 'reset-step' }, text('He'), text('y there')])).toEqual([
      'Hello \n\n*(interrupted, the answer begins again)*\n\n',
      'Hey there',
    ]);
  });

  it('A-34: however often an answer is interrupted, the last message is the whole answer', () => {
    const piece = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 3 });
    const attempts = fc.array(fc.array(piece, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(attempts, (all) => {
        // what is settled is the whole text of the last attempt, and may have been streamed or not
        const whole = `${all.at(-1)?.join('') ?? ''}.`;
        const chunks = all.flatMap((pieces): UiChunk[] => [...pieces.map(text), { type: 'reset-step' }]);
        expect(shown([{ type: 'start-step' }, ...chunks, text(whole)]).at(-1)).toBe(whole);
      }),
    );
  });

  it('shows a call once, how far it is, and its end once', () => {
    const updates = new AnswerUpdates({ runId: 'r', workspace: WORKSPACE });
    const input = { path: 'a.ts', oldText: 'one', newText: 'two' };
    const call: UiChunk = { type: 'tool-input-available', toolCallId: 'c', toolName: 'edit_file', input, providerExecuted: true };
    const event = { seq: 1, at: 0, turn: 1, callId: 'c' };
    const diff = { type: 'diff', path: '/srv/project/a.ts', oldText: 'one', newText: 'two' };
    expect(updates.chunk(call)).toMatchObject([
      {
        sessionUpdate: 'tool_call',
        title: 'Editing a.ts',
        kind: 'edit',
        status: 'pending',
        content: [diff],
        locations: [{ path: diff.path }],
      },
    ]);
    expect(updates.chunk(call)).toEqual([]);
    expect(updates.event({ ...event, type: 'tool.call', tool: 'edit_file', title: '', effect: 'once' })).toMatchObject([
      { status: 'in_progress' },
    ]);
    expect(updates.chunk({ type: 'tool-output-available', toolCallId: 'c', output: 'edited a.ts' })).toMatchObject([
      { status: 'completed', content: [diff], rawOutput: 'edited a.ts' },
    ]);
    const ended = { ...event, isError: false, outcome: 'ok', durationMs: 1, bytes: 1 };
    expect(updates.event({ ...ended, type: 'tool.result' })).toEqual([]);
    expect(updates.chunk({ type: 'tool-output-denied', toolCallId: 'c' })).toEqual([]);
  });
});

describe('editorCall', () => {
  it.each([
    ['read_file', { path: 'src/a.ts', offset: 12 }, 'read', [{ path: '/srv/project/src/a.ts', line: 12 }]],
    ['write_file', { path: '/tmp/x', content: 'y' }, 'edit', [{ path: '/tmp/x' }]],
    ['search_files', { pattern: 'x', path: 'src' }, 'search', [{ path: '/srv/project/src' }]],
    ['run_command', { command: 'npm test' }, 'execute', undefined],
    ['fetch_url', { url: 'https://a.example' }, 'fetch', undefined],
    ['deploy', { path: 'x' }, 'other', undefined],
  ])('shows %s with its kind and its files', (name, args, kind, locations) => {
    const call = editorCall({ callId: 'c', name, args }, WORKSPACE);
    expect(call).toMatchObject({ kind, rawInput: args });
    expect(call.locations).toEqual(locations);
  });

  it('B31: takes any arguments', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('read_file', 'write_file', 'edit_file', 'apply_patch', 'update_plan', 'x'),
        fc.jsonValue(),
        (name, args) => {
          // fast-check's JSON values are those of the contract
          const call = { callId: 'c', name, args: JSON.parse(JSON.stringify(args)) as never };
          expect(editorCall(call, WORKSPACE).title).not.toBe('');
          expect(endedContent(call, 'out', { workspace: WORKSPACE, isError: true })).not.toEqual([]);
        },
      ),
    );
  });

  it('shows the output of a command as it is, also with fences in it, and the output of a failed edit beside its change', () => {
    const command = { callId: 'c', name: 'run_command', args: { command: 'cat a.md' } };
    expect(textsOf(endedContent(command, '# no heading\n````\n', { workspace: WORKSPACE, isError: false }))).toEqual([
      '`````\n# no heading\n````\n`````',
    ]);
    const edit = { callId: 'c', name: 'edit_file', args: { path: 'a', oldText: 'x', newText: 'y' } };
    const failed = endedContent(edit, 'oldText was not found', { workspace: WORKSPACE, isError: true });
    expect(failed.map(({ type }) => type)).toEqual(['diff', 'content']);
  });
});

describe('stopReasonOf', () => {
  it('has a reason for each end of a run but a failure, which is an error with its type', () => {
    for (const same of ['max_tokens', 'refusal', 'cancelled'] as const) expect(stopOf(same)).toBe(same);
    expect(stopOf('completed')).toBe('end_turn');
    const others = Reason.options.filter((reason) => !['completed', 'error', 'max_tokens', 'refusal', 'cancelled'].includes(reason));
    expect(new Set(others.map(stopOf))).toEqual(new Set(['max_turn_requests']));
    const error = { type: 'Model.Auth', message: 'no key', turn: 1 };
    expect(() => stopReasonOf({ runId: 'r', reason: 'error', error })).toThrow(new PerdureError('Model.Auth', 'no key (run r)', 1));
  });
});

function stopOf(reason: Reason): ReturnType<typeof stopReasonOf> {
  return stopReasonOf({ runId: 'r', reason });
}

function textsOf(content: ReturnType<typeof endedContent>): string[] {
  return content.flatMap((part) => (part.type === 'content' && part.content.type === 'text' ? [part.content.text] : []));
}
