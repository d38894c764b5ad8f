import { Context } from '@temporalio/activity';
import { ArtifactError, type ArtifactStore } from '../../artifacts/artifact-store.js';
import type { CallToolInput, ToolOutcome } from '../../contracts/activities.js';
import { HOOK_LIMITS, TOOL_LIMITS } from '../../contracts/constants/limits.js';
import type { ContentPart, JsonValue } from '../../contracts/schemas/message.js';
import { cutMiddle, cutText } from '../../contracts/text/redact.js';
import type { HookOutcome, HookRunner } from '../hooks/hook-runner.js';
import { withinTime } from '../runtime/call-signal.js';

/** The end of a call after its hooks. */
export interface EndedWithHooks extends Ended {
  /** The reason of a hook that aborts the run. */
  readonly abort?: string;
}

/** The hooks after one tool call, whatever its outcome. They cannot prevent the call, but control its visible and stored output. */
export class ToolHooks {
  /** True when such hooks exist: none of the tool's output may be stored before they ran. */
  readonly rewrite: boolean;
  readonly #hooks: HookRunner;
  readonly #input: CallToolInput;
  readonly #startedAt = Date.now();

  constructor(hooks: HookRunner, input: CallToolInput) {
    this.#hooks = hooks;
    this.#input = input;
    this.rewrite = hooks.matches('after-tool', callOf(input));
  }

  /** The store for the tool's own output. With hooks it is one that stores nothing. */
  storeFor(artifacts: ArtifactStore): ArtifactStore {
    return this.rewrite ? WITHHELD : artifacts;
  }

  /** The end after the hooks. Never throws: a failed hook withholds the output. */
  async after(ended: Ended): Promise<EndedWithHooks> {
    if (!this.rewrite) return ended;
    const parts = shownParts(ended);
    const { runId, turn, agent = '' } = this.#input;
    const outcome = await this.#hooks.run('after-tool', {
      ...callOf(this.#input),
      runId,
      turn,
      agent,
      output: textOf(parts),
      isError: ended.outcome !== 'ok',
      signal: this.#signal(),
    });
    return leave(ended, parts, outcome);
  }

  /** Aborts shortly before the activity's own timeout; after a stop, within `afterStopMs`. */
  #signal(): AbortSignal {
    const { cancellationSignal, info } = Context.current();
    if (cancellationSignal.aborted) return AbortSignal.timeout(HOOK_LIMITS.afterStopMs);
    const leftMs = info.startToCloseTimeoutMs - (Date.now() - this.#startedAt) - TOOL_LIMITS.killGraceMs;
    return withinTime([cancellationSignal], Math.max(HOOK_LIMITS.afterStopMs, leftMs));
  }
}

const ENDS: Readonly<Record<ToolOutcome, string>> = {
  ok: 'the tool ran',
  failed: 'the tool failed',
  timeout: 'the tool timed out',
  cancelled: '[cancelled] the tool was stopped while running and may have taken partial effect',
  unknown: '[outcome unknown] the tool may or may not have taken effect',
};

function leave(ended: Ended, parts: readonly ContentPart[], outcome: HookOutcome): EndedWithHooks {
  switch (outcome.action) {
    case 'allow':
      return { ...ended, parts };
    case 'modify':
      return { ...ended, parts: outcome.output === undefined ? parts : withText(parts, outcome.output) };
    case 'block':
    case 'abort': {
      const text = `${ENDS[ended.outcome]}; its output is withheld, ${outcome.action}ed by hook ${outcome.hook}: ${outcome.reason}`;
      const refused: Ended = { outcome: ended.outcome === 'ok' ? 'failed' : ended.outcome, parts: [{ type: 'text', text }] };
      return outcome.action === 'block' ? refused : { ...refused, abort: `hook ${outcome.hook}: ${outcome.reason}` };
    }
  }
}

/** The parts as the hooks see them. Text beyond that limit is dropped, because unchecked text must not be stored. */
function shownParts({ outcome, parts }: Ended): readonly ContentPart[] {
  const text = textOf(parts);
  const cut = outcome === 'ok' ? cutText : cutMiddle;
  const shown = cut(text, HOOK_LIMITS.outputBytesMax);
  return shown === text ? parts : withText(parts, shown);
}

function textOf(parts: readonly ContentPart[]): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

function withText(parts: readonly ContentPart[], text: string): ContentPart[] {
  return [{ type: 'text', text }, ...parts.filter(({ type }) => type !== 'text')];
}

function callOf({ tool, args, workspace }: CallToolInput) {
  // the input of an activity is JSON
  return { tool, args: args as JsonValue, ...(workspace === undefined ? {} : { workspace }) };
}

/** A store that rejects every call. */
const WITHHELD: ArtifactStore = {
  put: () => ({ write: withheld, finish: withheld, discard: () => Promise.resolve() }),
  read: withheld,
};

function withheld(): Promise<never> {
  return Promise.reject(new ArtifactError('STORE_FAILED', 'a hook may rewrite this output'));
}

/** The end of a tool, before its message is made. */
export interface Ended {
  readonly outcome: ToolOutcome;
  readonly parts: readonly ContentPart[];
}
