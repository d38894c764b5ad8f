import { once } from 'node:events';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GATEWAY_LIMITS } from '../../../src/contracts/constants/limits.js';
import { readForm } from '../../../src/contracts/json/question-form.js';
import { PerdureError } from '../../../src/contracts/perdure-error.js';
import type { QuestionField } from '../../../src/contracts/schemas/question.js';
import type { AcpDoor } from '../../../src/gateway/acp/door.js';
import { promptContent } from '../../../src/gateway/acp/prompt-content.js';
import { formAnswer, questionForm } from '../../../src/gateway/acp/question-form.js';
import { shortLines } from '../../../src/gateway/acp/short-lines.js';
import { AcpEditor } from '../support/acp-editor.js';
import { serve } from './support/use-editors.js';

/** A door to a folder without a server. */
const CLOSED: AcpDoor = {
  version: '0',
  reach: () => Promise.reject(new PerdureError('TEMPORAL_UNREACHABLE', 'there is none; key sk-ant-api03-aaaaaaaaaaaaaaaaaaaaaaaaaaaa', 5)),
  workspaceOf: (cwd) =>
    cwd === '/none' ? Promise.reject(new PerdureError('WORKSPACE', '"/none" does not exist', 2)) : Promise.resolve(cwd),
  sessionOptions: () => Promise.resolve({}),
  keepRunning: () => Promise.resolve(),
};

const HELLO = { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: 1 } };

/** What the server answers to an input, until it ends. */
async function answers(lines: readonly (string | Buffer | object)[]): Promise<Record<string, unknown>[]> {
  const { input, output, end } = serve(CLOSED);
  let written = '';
  output.on('data', (chunk: Buffer) => {
    written += chunk.toString();
  });
  for (const line of lines) input.write(typeof line === 'string' || Buffer.isBuffer(line) ? line : `${JSON.stringify(line)}\n`);
  await end();
  return written
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('what an editor sends', () => {
  it('gets an error for each line that is no request, and the requests after it are answered', async () => {
    const open = { jsonrpc: '2.0', id: 3, method: 'session/new', params: { cwd: '/srv', mcpServers: [] } };
    const all = await answers([
      HELLO,
      'no json\n',
      '[1,2]\n',
      '7\n',
      '{"jsonrpc":"1.0"}\n',
      Buffer.from([0x7b, 0xff, 0xfe, 0x7d, 0x0a]),
      `${'x'.repeat(GATEWAY_LIMITS.requestBytesMax + 1)}\n`,
      { jsonrpc: '2.0', id: 2, method: 'session/fly', params: {} },
      { jsonrpc: '2.0', method: 'session/cancel', params: { sessionId: 'none' } },
      { jsonrpc: '2.0', method: 'session/cancel', params: 7 },
      open,
    ]);
    const errors = all.flatMap(({ id, error }) => (error === undefined ? [] : [[id, (error as { code: number }).code]]));
    // a long line is answered before the lines that follow it, the others in their order
    expect(errors.map((error) => JSON.stringify(error)).toSorted(byText)).toEqual([
      '[2,-32601]',
      '[null,-32600]',
      '[null,-32600]',
      '[null,-32600]',
      '[null,-32600]',
      '[null,-32700]',
      '[null,-32700]',
    ]);
    expect(JSON.stringify(all)).toContain('LINE_TOO_LONG');
    expect(all.find(({ id }) => id === 3)).toMatchObject({ result: { sessionId: expect.stringMatching(/^acp-/u) } });
  });

  it('a request before `initialize` is refused, and input that ends in mid-line ends the server', async () => {
    const all = await answers([{ jsonrpc: '2.0', id: 3, method: 'session/new', params: { cwd: '/srv', mcpServers: [] } }, '{"jsonrpc":']);
    expect(all).toMatchObject([
      { id: 3, error: { code: -32600 } },
      { id: null, error: { code: -32700 } },
    ]);
  });

  it('an unknown session, a folder that is none, and an unreachable server are errors of the request, without a key', async () => {
    const { input, output, end, said } = serve(CLOSED);
    const editor = await AcpEditor.over(input, output);
    expect(await editor.fails(editor.prompt('none', 'hello'))).toBe('Resource not found');
    expect(await editor.fails(editor.open('/none'))).toBe('WORKSPACE: "/none" does not exist');
    expect(await editor.fails(editor.open('src'))).toBe('WORKSPACE: cwd must be an absolute path, got "src"');
    expect(await editor.fails(editor.load('x', '/srv'))).toMatch(/^TEMPORAL_UNREACHABLE: there is none; key (?!sk-ant)/u);
    const session = await editor.open('/srv');
    expect(await editor.fails(editor.prompt(session, 'hello'))).toMatch(/^TEMPORAL_UNREACHABLE: /u);
    expect(await editor.fails(editor.prompt(session, [{ type: 'audio', data: '', mimeType: 'audio/wav' }]))).toMatch(
      /^BAD_MESSAGE: .*audio/u,
    );
    const server = { name: 'files', command: 'x', args: [], env: [{ name: 'KEY', value: 'secret' }] };
    await editor.request('session/new', { cwd: '/srv', mcpServers: [server] });
    expect(said).toEqual(['MCP servers of the editor are not used: "files"; add them to mcpServers of the config']);
    await end();
  });

  it('an editor that reads nothing and leaves ends the server', async () => {
    const { input, output, end } = serve(CLOSED);
    input.write(`${JSON.stringify(HELLO)}\n`);
    output.destroy();
    await once(output, 'close');
    // its input is still open
    await expect.poll(() => input.destroyed).toBe(true);
    await end();
  });
});

const byText = (a: string, b: string): number => a.localeCompare(b);

const isShort = (line: string): boolean => Buffer.byteLength(line) + 1 <= 10;

describe('shortLines', () => {
  it('gives each line that is not too long, whole, however the input is cut', async () => {
    const line = fc.string({ unit: fc.constantFrom('a', 'é', '7'), maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 6 }), fc.array(fc.nat(20)), async (lines, cuts) => {
        const bytes = Buffer.from(lines.map((each) => `${each}\n`).join(''));
        const ends = cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b);
        const pieces = [0, ...ends].map((start, index) => bytes.subarray(start, [...ends, bytes.length][index]));
        let long = 0;
        const given: string[] = [];
        for await (const each of shortLines(ReadableStream.from(pieces), 10, () => (long += 1))) given.push(each.toString());
        expect(given).toEqual(lines.filter(isShort).map((each) => `${each}\n`));
        expect(long).toBe(lines.filter((each) => !isShort(each)).length);
      }),
    );
  });
});

describe('promptContent', () => {
  it('keeps a sentence with links together, and the text of open files', () => {
    expect(
      promptContent([
        { type: 'text', text: 'Fix ' },
        { type: 'resource_link', name: 'a.ts', uri: 'file:///srv/a.ts' },
        { type: 'text', text: ', please.' },
        { type: 'text', text: 'Thanks.' },
        { type: 'resource', resource: { uri: 'file:///srv/b.ts', text: 'b()' } },
      ]),
    ).toEqual({
      text: 'Fix [a.ts](file:///srv/a.ts), please.\n\nThanks.\n<resource uri="file:///srv/b.ts">\nb()\n</resource>\n',
    });
  });

  it('sends images as files, and an empty prompt as an empty text, which a session refuses', () => {
    expect(
      promptContent([
        { type: 'text', text: 'See' },
        { type: 'image', data: 'aaaa', mimeType: 'image/png' },
      ]),
    ).toEqual({
      parts: [
        { type: 'text', text: 'See' },
        { type: 'file', mime: 'image/png', dataBase64: 'aaaa' },
      ],
    });
    expect(promptContent([])).toEqual({ text: '' });
  });
});

describe('questionForm', () => {
  const base = { callId: 'q', question: 'Well?', askedBy: 'agent', turn: 1, since: '', expires: '' };
  const fields: QuestionField[] = [
    { name: 'to', kind: 'choice', required: true, choices: ['eu', 'us'] },
    { name: 'count', kind: 'integer', required: true, min: 1, max: 5 },
    { name: 'sure', kind: 'boolean', required: false },
    { name: 'tags', kind: 'choices', required: false, choices: ['a', 'b'], max: 2 },
    { name: 'mail', kind: 'text', required: true, format: 'email' },
  ];
  const content = { to: 'us', count: 3, sure: true, tags: ['a', 'b'], mail: 'a@b.example' };

  it('the answer in a form is one that the run reads, for all fields and for each alone', () => {
    const answer = formAnswer({ fields }, { action: 'accept', content });
    expect(readForm(fields, answer ?? '')).toEqual({ values: new Map(Object.entries(content)) });
    for (const field of fields) {
      const only = formAnswer({ fields: [field] }, { action: 'accept', content });
      expect(readForm([field], only ?? '')).toEqual({ values: new Map([[field.name, content[field.name as keyof typeof content]]]) });
    }
    expect(questionForm({ ...base, fields })).toMatchObject({
      required: ['to', 'count', 'mail'],
      properties: {
        to: { type: 'string', enum: ['eu', 'us'] },
        count: { type: 'integer', minimum: 1, maximum: 5 },
        mail: { format: 'email' },
      },
    });
  });

  it('a form that was declined, or dismissed, is no answer', () => {
    expect(formAnswer({}, { action: 'decline' })).toBeUndefined();
    expect(formAnswer({}, { action: 'cancel' })).toBeUndefined();
  });
});
