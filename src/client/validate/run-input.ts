import { posix, win32 } from 'node:path';
import type { z } from 'zod';
import { FAILOVER_LIMITS, INPUT_LIMITS, OUTPUT_SCHEMA_LIMITS, PAYLOAD_LIMITS, RUN_LIMITS } from '../../contracts/constants/limits.js';
import { THINKING_LEVELS } from '../../contracts/constants/thinking-levels.js';
import { filesProblem } from '../../contracts/files/file-problem.js';
import { toJsonSchema } from '../../contracts/json/output-schema.js';
import { isBareModel, parseModelRef } from '../../contracts/models/model-ref.js';
import { PerdureError } from '../../contracts/perdure-error.js';
import type { Part } from '../../contracts/schemas/message.js';
import { RunInput } from '../../contracts/schemas/run.js';
import { didYouMean } from '../../contracts/text/did-you-mean.js';
import { echoValue } from '../../contracts/text/echo-value.js';
import { isRunId, isSessionKey } from '../../contracts/text/ids.js';
import { cleanText } from '../../contracts/text/sanitize-text.js';
import { EMPTY_MESSAGE, type Fault, messageText } from '../../contracts/verbs/fields.js';
import { readVerb, type Verb } from '../../contracts/verbs/verb.js';

/** The expected value of each option, for errors. Other options use the message of zod. */
const EXPECTED: Readonly<Record<string, string>> = {
  maxTurns: `integer ${RUN_LIMITS.maxTurnsMin}–${RUN_LIMITS.maxTurnsMax}`,
  maxTokens: 'integer above 0',
  maxCostUsd: 'number above 0, in USD',
  deadlineMs: `integer ${RUN_LIMITS.deadlineMsMin}–${RUN_LIMITS.deadlineMsMax}, in milliseconds`,
  mode: 'dispatch or chat',
  outputSchema: 'a schema of zod 4, or a JSON Schema as an object',
  onBudget: 'finish or ask',
  allowUnknownPrice: 'true or false',
  fallbacks: `a list of at most ${FAILOVER_LIMITS.fallbacksMax} models, as provider/model`,
  thinking: `${THINKING_LEVELS.join(', ')}, or a number of tokens`,
};

/**
 * Validates and sanitizes the input of a run. Throws PerdureError (exit 2) before anything is sent: `UNKNOWN_OPTION`, `BAD_OPTION`,
 * `EMPTY_MESSAGE`, `MESSAGE_TOO_LARGE`, `BAD_SESSION_ID`, `BAD_FILE`, `BAD_IMAGE`.
 */
export function checkRunInput(input: unknown): RunInput {
  const sent = withJsonSchema(input);
  const parsed = parseInput(sent);
  if (!parsed.success) throw badOption(parsed.error.issues, sent);
  const { session, model, fallbacks = [], task, outputSchema } = parsed.data;
  if (session !== undefined) checkSession(session);
  if (model !== undefined) checkModel('model', model);
  for (const fallback of fallbacks) checkModel('fallbacks', fallback);
  if (outputSchema !== undefined) checkSchemaSize(outputSchema);
  checkWorkspace(parsed.data.context?.workspace);
  checkFiles([
    ...(typeof task === 'string' ? [] : task),
    ...(parsed.data.messages ?? []).flatMap((message): readonly Part[] => message.parts),
  ]);
  return { ...parsed.data, v: 1, task: checkTask(task) };
}

/** Checks the size of an input. Throws `MESSAGE_TOO_LARGE` (exit 2). */
export function checkInputSize(input: RunInput, bytesMax: number): void {
  const bytes = Buffer.byteLength(JSON.stringify(input));
  if (bytes > bytesMax) throw tooLarge('the run input', bytes, bytesMax);
}

/** Validates a run ID. Throws `BAD_RUN_ID` (exit 2). */
export function checkRunId(id: unknown): string {
  if (typeof id !== 'string' || !isRunId(id)) throw badId('BAD_RUN_ID', id);
  return id;
}

/** Validates the session that a run names. Throws `BAD_SESSION_ID` (exit 2). */
export function checkSession(session: unknown): string {
  if (typeof session !== 'string' || !isRunId(session)) throw badId('BAD_SESSION_ID', session);
  return session;
}

/** Validates the key of a session, which may have slashes. Throws `BAD_SESSION_ID` (exit 2). */
export function checkSessionKey(key: unknown): string {
  if (typeof key !== 'string' || !isSessionKey(key)) throw badId('BAD_SESSION_ID', key);
  return key;
}

/** Validates the name of a tenant or an agent that is searched. `option` is its name in errors. Throws `BAD_OPTION` (exit 2). */
export function checkSearched(option: string, name: unknown): string {
  // the server does not find a value with a character that its query language escapes
  const isSearchable = typeof name === 'string' && /^[^"'\\\p{Cc}]+$/u.test(name) && name.length <= INPUT_LIMITS.nameCharsMax;
  if (isSearchable) return name;
  const expected = `1–${INPUT_LIMITS.nameCharsMax} characters without quotes, backslashes and control characters`;
  throw new PerdureError('BAD_OPTION', `${option}: ${expected}, got ${echoValue(name)}`, 2);
}

/** The input with the JSON Schema of a zod schema. */
function withJsonSchema(input: unknown): unknown {
  if (typeof input !== 'object' || input === null || !('outputSchema' in input)) return input;
  const converted = toJsonSchema(input.outputSchema);
  if ('problem' in converted) throw new PerdureError('BAD_OPTION', `outputSchema: ${converted.problem}`, 2);
  return { ...input, outputSchema: converted.schema };
}

/** JSON that is nested thousands of levels deep leaves no room on the stack to look at it. */
function parseInput(input: unknown): ReturnType<typeof RunInput.safeParse> {
  try {
    return RunInput.safeParse(input);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new PerdureError('BAD_OPTION', 'input: nested too deeply', 2, { cause: error });
  }
}

/** Checks the form of a model name. The worker checks that the model exists. */
function checkModel(option: string, model: string): void {
  if (isBareModel(model) || parseModelRef(model)) return;
  throw new PerdureError('BAD_OPTION', `${option}: provider/model, such as openai/gpt-5.4-mini, got ${echoValue(model)}`, 2);
}

/** A relative path means nothing to the worker, which has another current folder, and maybe another system than this host. */
function checkWorkspace(workspace: string | undefined): void {
  if (workspace === undefined || posix.isAbsolute(workspace) || win32.isAbsolute(workspace)) return;
  throw new PerdureError('BAD_OPTION', `context.workspace: an absolute path of the worker's host, got ${echoValue(workspace)}`, 2);
}

/** Checks files by value. Throws `BAD_FILE` or `BAD_IMAGE` (exit 2). */
function checkFiles(parts: readonly Part[]): void {
  const problem = filesProblem(parts);
  if (problem === undefined) return;
  const [code = '', ...sentence] = problem.split(': ');
  throw new PerdureError(code, sentence.join(': '), 2);
}

/** Checks the size of a schema. The worker validates the schema. */
function checkSchemaSize(schema: NonNullable<RunInput['outputSchema']>): void {
  const bytes = Buffer.byteLength(JSON.stringify(schema));
  if (bytes <= OUTPUT_SCHEMA_LIMITS.bytesMax) return;
  throw new PerdureError('BAD_OPTION', `outputSchema: at most ${OUTPUT_SCHEMA_LIMITS.bytesMax} bytes as JSON, got ${bytes}`, 2);
}

function checkTask(task: RunInput['task']): RunInput['task'] {
  if (typeof task === 'string') return checkText(task);
  if (!task.some(hasContent)) throw refused(EMPTY_MESSAGE);
  const bytes = Buffer.byteLength(JSON.stringify(task));
  if (bytes > PAYLOAD_LIMITS.messageBytesMax) throw tooLarge('message', bytes, PAYLOAD_LIMITS.messageBytesMax);
  return task.map((part) => (part.type === 'text' ? { ...part, text: cleanText(part.text) } : part));
}

/** A message's text, cleaned. Throws `BAD_OPTION`, `EMPTY_MESSAGE` or `MESSAGE_TOO_LARGE` (exit 2). */
export function checkText(text: unknown): string {
  const { value, fault } = messageText(text, 'text');
  if (value === undefined || fault) throw refused(fault ?? EMPTY_MESSAGE);
  return value;
}

function refused({ code, message }: Fault): PerdureError {
  return new PerdureError(code, message, 2);
}

function hasContent(part: Part): boolean {
  return part.type === 'text' ? part.text.trim() !== '' : part.type === 'file' || part.type === 'artifact';
}

function badOption(issues: readonly z.core.$ZodIssue[], input: unknown): PerdureError {
  const issue = issues.find((candidate) => candidate.code === 'unrecognized_keys') ?? issues[0];
  if (issue?.code === 'unrecognized_keys') {
    const key = issue.keys[0] ?? '';
    const known = issue.path.length === 0 ? [...Object.keys(RunInput.shape), 'id'] : [];
    return new PerdureError('UNKNOWN_OPTION', `${echoName([...issue.path, key])}${didYouMean(key, known)}`, 2);
  }
  const path = issue?.path ?? [];
  const value = valueAt(input, path);
  if (path.length === 1 && path[0] === 'task' && value === undefined) return refused(EMPTY_MESSAGE);
  if (path.length === 1 && path[0] === 'session' && typeof value === 'string') return badId('BAD_SESSION_ID', value);
  const name = path.length === 0 ? 'input' : echoName(path);
  return new PerdureError('BAD_OPTION', `${name}: ${EXPECTED[name] ?? issue?.message ?? 'not valid'}, got ${echoValue(value)}`, 2);
}

/** Formats a path such as `context.workspace`. Quotes it if a caller sent unusual characters. */
function echoName(path: readonly PropertyKey[]): string {
  const name = path.map(String).join('.');
  return /^[\w.-]{1,80}$/u.test(name) ? name : echoValue(name);
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value: unknown = input;
  for (const key of path) value = typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
  return value;
}

function tooLarge(what: string, bytes: number, bytesMax: number): PerdureError {
  return new PerdureError('MESSAGE_TOO_LARGE', `${what}: limit ${bytesMax} bytes, got ${bytes}`, 2);
}

function badId(code: 'BAD_RUN_ID' | 'BAD_SESSION_ID', id: unknown): PerdureError {
  return new PerdureError(code, `use 1–200 characters of A–Z a–z 0–9 . _ : -, not starting with . or -; got ${echoValue(id)}`, 2);
}

/** The input of a verb, checked and cleaned. Throws PerdureError (exit 2) with the code of the first fault; nothing is sent by then. */
export function checkVerbInput<Input extends object>(verb: Verb<Input, unknown>, given: unknown): Input {
  const { value, fault } = readVerb(verb, given, 'strict');
  if (fault) throw new PerdureError(fault.code, fault.message, 2);
  return value;
}
