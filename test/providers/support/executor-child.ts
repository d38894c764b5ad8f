import { randomUUID } from 'node:crypto';
import { afterEach } from 'vitest';
import type { Message } from '../../../src/contracts/schemas/message.js';
import type { SubprocessExecutor } from '../../../src/define/agent-executor.js';
import { captureKeys } from '../../../src/providers/access/key-ring.js';
import type { KeyRing } from '../../../src/providers/contract/access-options.js';
import type { ModelAnswer, ModelProvider, ModelRequest, StreamDelta } from '../../../src/providers/contract/provider.js';
import { createSubprocessProvider } from '../../../src/providers/executor/subprocess.js';
import { killMarked } from './kill-marked.js';

/** What the body of a child may use: its next line of input, a line of output, and the calls it wants made. */
const PRELUDE = `
  const input = require('node:readline').createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  const next = async () => { const { value } = await input.next(); return value === undefined ? undefined : JSON.parse(value); };
  const say = (line) => process.stdout.write(JSON.stringify(line) + '\\n');
  const call = (...calls) => say({ type: 'tool_calls', calls });
  const wait = () => new Promise(() => setInterval(() => undefined, 1_000));
`;

/** On the command line of every child of this process, and of no other. */
const MARKER = `executor-child-${randomUUID()}`;

/** The arguments of a Node that runs the body as a child; `marker` is on its command line too. */
export function childArgs(body: string, marker = ''): string[] {
  return ['-e', `${PRELUDE}\n(async () => {\n${body}\n})(); // ${MARKER} ${marker}`];
}

/** A run that is talked through without a worker: what callModel would keep is kept here. */
export interface TalkedRun {
  readonly runId: string;
  readonly messages: Message[];
  readonly deltas: StreamDelta[];
  /** Adds what a user says. */
  user(text: string): void;
  /** Adds the results of the last answer's calls, in order. */
  results(...texts: string[]): void;
  ask(options?: Partial<ModelRequest>): Promise<ModelAnswer>;
}

/** A provider over a child with this body. */
export function executorOf(
  body: string,
  options: Partial<Omit<SubprocessExecutor, 'kind'>> & {
    readonly keys?: KeyRing;
    readonly marker?: string;
    readonly own?: NodeJS.ProcessEnv;
  } = {},
): ModelProvider {
  const { keys = captureKeys({}), marker, own = { PATH: process.env['PATH'] }, ...executor } = options;
  return createSubprocessProvider({
    agent: 'crew',
    executor: { kind: 'subprocess', command: process.execPath, args: childArgs(body, marker), ...executor },
    env: own,
    keys,
  });
}

/** Runs of one test file. Each has a signal that is aborted after its test, so that no process is left. */
export function useTalkedRuns() {
  const open: AbortController[] = [];
  const asked: Promise<unknown>[] = [];
  afterEach(async () => {
    for (const controller of open.splice(0)) controller.abort(new Error('the test is over'));
    await Promise.allSettled(asked.splice(0));
    // those that wait for their next question would be ended by their idle time
    await killMarked(MARKER);
  });
  return (provider: ModelProvider, task = 'do it'): TalkedRun => {
    const runId = `run-${randomUUID()}`;
    const controller = new AbortController();
    open.push(controller);
    const messages: Message[] = [];
    const deltas: StreamDelta[] = [];
    const add = (message: Omit<Message, 'id'>): void => void messages.push({ id: `m${messages.length}`, ...message });
    const user = (text: string): void => add({ role: 'user', parts: [{ type: 'text', text }] });
    user(task);
    return {
      runId,
      messages,
      deltas,
      user,
      results(...texts) {
        const calls = messages.findLast(({ role }) => role === 'assistant')?.parts.filter(({ type }) => type === 'tool_call') ?? [];
        for (const [index, part] of calls.entries()) {
          if (part.type !== 'tool_call') continue;
          const parts = [{ type: 'text', text: texts[index] ?? 'ok' } as const];
          add({ role: 'tool', parts: [{ type: 'tool_result', callId: part.callId, isError: false, parts }] });
        }
      },
      async ask(more = {}) {
        const signals = [controller.signal, ...(more.signal ? [more.signal] : [])];
        const request: ModelRequest = {
          ...base(runId),
          messages: [...messages],
          onDelta: (delta) => deltas.push(delta),
          ...more,
          signal: AbortSignal.any(signals),
        };
        const answer = provider.call(request);
        asked.push(answer);
        const { parts } = await answer;
        // as callModel does: call ids are the run's own
        const own = parts.map((part, index) => (part.type === 'tool_call' ? { ...part, callId: `own${messages.length}_${index}` } : part));
        add({ role: 'assistant', parts: own });
        return answer;
      },
    };
  };
}

function base(runId: string): Omit<ModelRequest, 'messages' | 'signal' | 'onDelta'> {
  const tools = [{ name: 'look_up', description: 'Looks up.', schema: { type: 'object' }, effect: 'read' }];
  return { model: 'crew', runId, prompt: 'Be brief.', tools, toolChoice: 'auto', outputTokensMax: 1_000, idleMs: 1_000 };
}

/** What an answer says. */
export function textOf(parts: readonly { readonly type: string; readonly text?: string }[]): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text ?? ''] : [])).join('');
}
