import type { Effect } from '../../contracts/schemas/tool.js';
import type { NewFile } from './write-files.js';

/** The kind of schema that describes the arguments of a new tool. */
export type SchemaKind = 'zod' | 'json';

/** What a new tool is made from. */
export interface NewTool {
  /** Letters, digits, `_` and `-`. */
  readonly name: string;
  readonly effect: Effect;
  readonly schema: SchemaKind;
}

/** Why a tool of each effect may run again, as a comment of its file. */
const EFFECTS: Readonly<Record<Effect, string>> = {
  read: 'the tool changes nothing, so a call may run again after a crash',
  idempotent: 'a call may run again with the same idempotencyKey: send it to the service that deduplicates',
  once: 'a call starts at most once: after a crash, the model sees that its outcome is unknown',
};

/** The files of a new tool: the tool, and a test that passes. */
export function toolFiles(tool: NewTool): NewFile[] {
  const file = fileName(tool.name);
  return [
    { path: `tools/${file}.ts`, text: toolText(tool) },
    { path: `test/${file}.test.ts`, text: testText(tool, file) },
  ];
}

/** The name of a tool in TypeScript, such as `readTicket` for `read_ticket`. */
export function exportName(name: string): string {
  const words = name.split(/[_-]+/u).filter((word) => word !== '');
  const [first = 'tool', ...rest] = words.map((word) => word.slice(0, 1).toLowerCase() + word.slice(1));
  const joined = [first, ...rest.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))].join('');
  // a name of JavaScript is no name of a variable, and a digit begins none
  return RESERVED.has(joined) || /^\d/u.test(joined) ? `${joined}Tool`.replace(/^\d/u, '_$&') : joined;
}

const RESERVED: ReadonlySet<string> = new Set(
  (
    'await break case catch class const continue debugger default delete do else enum export extends false finally for function if ' +
    'implements import in instanceof interface let new null package private protected public return static super switch this throw ' +
    'true try typeof var void while with yield'
  ).split(' '),
);

function fileName(name: string): string {
  const words = name.replaceAll(/([a-z\d])([A-Z])/gu, '$1-$2').toLowerCase();
  return words.replaceAll(/[_-]+/gu, '-').replaceAll(/^-|-$/gu, '') || 'tool';
}

function toolText({ name, effect, schema }: NewTool): string {
  const key = effect === 'idempotent' ? ', idempotencyKey' : '';
  const isZod = schema === 'zod';
  return `import { defineTool } from 'perdure';
${isZod ? "import { z } from 'zod';\n" : ''}
export const ${exportName(name)} = defineTool({
  name: '${name}',
  description: 'Say what the tool does, and when to use it. The model reads this.',
  parameters: ${isZod ? ZOD_PARAMETERS : JSON_PARAMETERS},
  // ${EFFECTS[effect]}
  effect: '${effect}',
  execute: async ({ text }${isZod ? '' : ': { text: string }'}, { signal${key} }) => {
    // pass the signal to everything that waits, such as fetch
    signal.throwIfAborted();
    return ${effect === 'idempotent' ? '`received ${text} with key ${idempotencyKey}`' : '`received ${text}`'};
  },
});
`;
}

const ZOD_PARAMETERS = "z.strictObject({ text: z.string().min(1).describe('Say what the argument means.') })";
const JSON_PARAMETERS = `{
    type: 'object',
    properties: { text: { type: 'string', minLength: 1, description: 'Say what the argument means.' } },
    required: ['text'],
    additionalProperties: false,
  }`;

function testText({ name, effect }: NewTool, file: string): string {
  const tool = exportName(name);
  const module = `../tools/${file}.js`;
  const options = effect === 'idempotent' ? "{ idempotencyKey: 'run-1' }" : '';
  return `import { toolContext } from 'perdure/testing';
import { expect, it } from 'vitest';
import { ${tool} } from '${module}';

it('returns what it received', async () => {
  const result = await ${tool}.execute({ text: 'hello' }, toolContext(${options}));
  expect(result).toBe('received hello${effect === 'idempotent' ? ' with key run-1' : ''}');
});

it('stops when the call is cancelled', async () => {
  const context = toolContext();
  context.abort(new Error('cancelled'));
  await expect(${tool}.execute({ text: 'hello' }, context)).rejects.toThrow('cancelled');
});

it('refuses arguments that do not match', () => {
  expect(${tool}.parameters.safeParse({ text: 7 }).success).toBe(false);
});
`;
}
