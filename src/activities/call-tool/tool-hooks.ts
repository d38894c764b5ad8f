import { Context } from '@temporalio/activity';
import { ArtifactError, type ArtifactStore } from '../../artifacts/artifact-store.js';
import type { CallToolInput, ToolOutcome } from '../../contracts/activities.js';
import { HOOK_LIMITS, TOOL_LIMITS } from '../../contracts/constants/limits.js';
import type { ContentPart, JsonValue } from '../../contracts/schemas/message.js';
import { cutText } from '../../contracts/text/redact.js';
import type { HookOutcome, HookRunner } from '../hooks/hook-runner.js';

/** How a call ended once its hooks were asked. */
export interface EndedWithHooks extends Ended {
  /** A hook wants the run to end, with this reason. */
  readonly abort?: string;
}

/** The hooks after one tool call, however it ended. They cannot prevent it any more, only what is read and kept of it. */
export class ToolHooks {
  /** There are such hooks: nothing of the tool's own words may be kept before they were asked. */
  readonly rewrite: boolean;
  readonly #hooks: HookRunner;
  readonly #input: CallToolInput;
  readonly #startedAt = Date.now();

  constructor(hooks: HookRunner, input: CallToolInput) {
    this.#hooks = hooks;
    this.#input = input;
    this.rewrite = hooks.matches('after-tool', callOf(input));
  }

  /** Where the tool may keep its own output: nowhere, when hooks have a say in it. */
  storeFor(artifacts: ArtifactStore): ArtifactStore {
    return this.rewrite ? WITHHELD : artifacts;
  }

  /** The end as the hooks leave it. Never throws: hooks that fail withhold the output. */
  async after(ended: Ended): Promise<EndedWithHooks> {
    if (!this.rewrite) return ended;
    const parts = shownParts(ended.parts);
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

  /** Until shortly before the activity's own time is over; after a stop there is only a moment. */
  #signal(): AbortSignal {
    const { cancellationSignal, info } = Context.current();
    if (cancellationSignal.aborted) return AbortSignal.timeout(HOOK_LIMITS.afterStopMs);
    const leftMs = info.startToCloseTimeoutMs - (Date.now() - this.#startedAt) - TOOL_LIMITS.killGraceMs;
    return AbortSignal.any([cancellationSignal, AbortSignal.timeout(Math.max(HOOK_LIMITS.afterStopMs, leftMs))]);
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

/** What is not shown to the hooks is not kept either. */
function shownParts(parts: readonly ContentPart[]): readonly ContentPart[] {
  const text = textOf(parts);
  const shown = cutText(text, HOOK_LIMITS.outputBytesMax);
  return shown === text ? parts : withText(parts, shown);
}

function textOf(parts: readonly ContentPart[]): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

function withText(parts: readonly ContentPart[], text: string): ContentPart[] {
  return [{ type: 'text', text }, ...parts.filter(({ type }) => type !== 'text')];
}

function callOf({ tool, args, workspace }: CallToolInput) {
  // an activity's input came as JSON
  return { tool, args: args as JsonValue, ...(workspace === undefined ? {} : { workspace }) };
}

/** Keeps nothing and says why. */
const WITHHELD: ArtifactStore = {
  put: () => ({ write: withheld, finish: withheld, discard: () => Promise.resolve() }),
  read: withheld,
};

function withheld(): Promise<never> {
  return Promise.reject(new ArtifactError('STORE_FAILED', 'hooks have a say in this output'));
}

/** How a tool ended, before it is put into a message. */
export interface Ended {
  readonly outcome: ToolOutcome;
  readonly parts: readonly ContentPart[];
}
