import { isAbsolute, resolve } from 'node:path';
import type { ToolCall, ToolCallContent, ToolCallLocation, ToolKind } from '@agentclientprotocol/sdk';
import type { JsonValue } from '../../contracts/schemas/message.js';
import { toolTitle } from '../../contracts/text/tool-title.js';
import type { ToolOutput } from '../http/chat/tool-output.js';

/** A tool call of the model. */
export interface CalledTool {
  readonly callId: string;
  readonly name: string;
  readonly args: JsonValue;
}

/**
 * A tool call as an editor shows it: title, kind, the files that it names, and the change that it makes. Relative paths belong to the
 * workspace. Never throws, whatever the arguments are.
 */
export function editorCall({ callId, name, args }: CalledTool, workspace: string): ToolCall {
  const content = changeOf(name, args, workspace);
  const locations = locationsOf(name, args, workspace);
  return {
    toolCallId: callId,
    title: toolTitle(name, args),
    name,
    kind: KINDS.get(name) ?? 'other',
    status: 'pending',
    rawInput: args,
    ...(content.length === 0 ? {} : { content }),
    ...(locations.length === 0 ? {} : { locations }),
  };
}

/** What an editor shows of a call that has ended: its change, and its output if there is no change or the call failed. */
export function endedContent(
  { name, args }: CalledTool,
  output: ToolOutput,
  end: { workspace: string; isError: boolean },
): ToolCallContent[] {
  const change = changeOf(name, args, end.workspace);
  if (change.length > 0 && !end.isError) return change;
  return [...change, ...outputContent(output, VERBATIM.has(KINDS.get(name) ?? 'other'))];
}

const KINDS: ReadonlyMap<string, ToolKind> = new Map([
  ['read_file', 'read'],
  ['read_artifact', 'read'],
  ['read_skill', 'read'],
  ['command_output', 'read'],
  ['list_files', 'search'],
  ['search_files', 'search'],
  ['recall', 'search'],
  ['write_file', 'edit'],
  ['edit_file', 'edit'],
  ['apply_patch', 'edit'],
  ['run_command', 'execute'],
  ['start_command', 'execute'],
  ['stop_command', 'execute'],
  ['fetch_url', 'fetch'],
  ['update_plan', 'think'],
]);

/** Kinds whose output is shown as it is. Editors read other text as Markdown. */
const VERBATIM: ReadonlySet<ToolKind> = new Set(['read', 'search', 'execute', 'edit']);

/** Tools whose argument `path` names a file or folder of the workspace. */
const PATH_TOOLS: ReadonlySet<string> = new Set(['read_file', 'write_file', 'edit_file', 'list_files', 'search_files']);

function locationsOf(name: string, args: JsonValue, workspace: string): ToolCallLocation[] {
  const path = PATH_TOOLS.has(name) ? argument(args, 'path', 'string') : undefined;
  if (path === undefined) return [];
  const line = name === 'read_file' ? argument(args, 'offset', 'number') : undefined;
  return [{ path: absolute(path, workspace), ...(Number.isInteger(line) ? { line: line ?? null } : {}) }];
}

function changeOf(name: string, args: JsonValue, workspace: string): ToolCallContent[] {
  const path = argument(args, 'path', 'string');
  if (name === 'apply_patch') {
    const patch = argument(args, 'patch', 'string');
    return patch === undefined ? [] : [textContent(fenced(patch, 'diff'))];
  }
  const newText = argument(args, name === 'write_file' ? 'content' : 'newText', 'string');
  if (path === undefined || newText === undefined || (name !== 'write_file' && name !== 'edit_file')) return [];
  const oldText = name === 'edit_file' ? argument(args, 'oldText', 'string') : undefined;
  return [{ type: 'diff', path: absolute(path, workspace), newText, ...(oldText === undefined ? {} : { oldText }) }];
}

function outputContent(output: ToolOutput, isVerbatim: boolean): ToolCallContent[] {
  const parts = typeof output === 'string' ? [{ type: 'text' as const, text: output }] : output;
  return parts.flatMap((part): ToolCallContent[] => {
    if (part.type === 'text') return part.text === '' ? [] : [textContent(isVerbatim ? fenced(part.text) : part.text)];
    if (part.type === 'artifact') return [textContent(fenced(part.head))];
    if (part.dataBase64 === undefined || !part.mime.startsWith('image/')) return [textContent(`[${part.mime}]`)];
    return [{ type: 'content', content: { type: 'image', data: part.dataBase64, mimeType: part.mime } }];
  });
}

function textContent(text: string): ToolCallContent {
  return { type: 'content', content: { type: 'text', text } };
}

/** Text in a block of code that it cannot end. */
function fenced(text: string, language = ''): string {
  const ticks = text.match(/`{3,}/gu) ?? [];
  const fence = '`'.repeat(Math.max(2, ...ticks.map(({ length }) => length)) + 1);
  return `${fence}${language}\n${text}${text.endsWith('\n') ? '' : '\n'}${fence}`;
}

function absolute(path: string, workspace: string): string {
  return isAbsolute(path) ? path : resolve(workspace, path);
}

interface Kinds {
  string: string;
  number: number;
}

function argument<Kind extends keyof Kinds>(args: JsonValue, key: string, kind: Kind): Kinds[Kind] | undefined {
  if (args === null || typeof args !== 'object' || !Object.hasOwn(args, key)) return undefined;
  const value: unknown = Reflect.get(args, key);
  // the type was just compared
  return typeof value === kind ? (value as Kinds[Kind]) : undefined;
}
