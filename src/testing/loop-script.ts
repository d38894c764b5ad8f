import type { ScriptInput } from '../providers/scripted/script.js';

/** The shape of a long, even conversation. */
export interface LoopScriptOptions {
  /** Turns of the run, the last one without a call. */
  readonly turns: number;
  /** Tool that every turn but the last calls. @default `echo` */
  readonly tool?: string;
  /** Arguments of each call; `{{turn}}` is filled. @default `{ turn: "{{turn}}" }`, so that no two calls are the same */
  readonly args?: Record<string, string>;
  /** Bytes of each answer's text. @default 1,024 */
  readonly answerBytes?: number;
}

/** Said, not estimated: an estimate looks at the whole request, and would cost more with every turn. */
const USAGE = { inputTokens: 1_000, outputTokens: 256 };

/** Makes a script of `turns` equal answers without any delay, in few pieces: for benchmarks and long runs. Throws a RangeError for no turns. */
export function loopScript({ turns, tool = 'echo', args = { turn: '{{turn}}' }, answerBytes = 1_024 }: LoopScriptOptions): ScriptInput {
  if (!Number.isInteger(turns) || turns < 1) throw new RangeError(`turns is an integer of at least 1, not ${turns}`);
  const text = 'lorem ipsum '.repeat(Math.ceil(answerBytes / 12)).slice(0, answerBytes);
  const chunkChars = Math.max(1, Math.ceil(answerBytes / 4));
  const last = { text, chunkChars, usage: USAGE };
  const turn = { ...last, toolCalls: [{ name: tool, args }] };
  return { steps: [...Array.from({ length: turns - 1 }, () => turn), last], final: last };
}
