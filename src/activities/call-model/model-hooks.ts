import type { CallModelInput } from '../../contracts/activities.js';
import { HOOK_LIMITS } from '../../contracts/constants/limits.js';
import type { Part } from '../../contracts/schemas/message.js';
import type { Usage } from '../../contracts/schemas/model.js';
import type { HookContext } from '../../define/define-hook.js';
import type { ModelRequest } from '../../providers/contract/provider.js';
import type { HookOutcome, HookRunner } from '../hooks/hook-runner.js';
import { failure } from '../runtime/failures.js';

/** The hooks around one attempt of one model call. Hooks after it do not run for a failed attempt. */
export class ModelHooks {
  readonly #hooks: HookRunner;
  readonly #call: Pick<HookContext, 'runId' | 'turn'>;
  #agent = '';

  constructor(hooks: HookRunner, { runId, turn }: Pick<CallModelInput, 'runId' | 'turn'>) {
    this.#hooks = hooks;
    this.#call = { runId, turn };
  }

  /** True when hooks may rewrite answers. The original text must then not be streamed or stored. */
  get rewrite(): boolean {
    return this.#hooks.matches('after-model');
  }

  /** The request after the hooks. Throws `Hook.Blocked` or `Hook.Aborted`. */
  async before(agent: string, request: ModelRequest): Promise<ModelRequest> {
    this.#agent = agent;
    if (!this.#hooks.matches('before-model')) return request;
    const { prompt, messages, signal } = request;
    const tools = request.tools.map(({ name, description, schema }) => ({ name, description, schema }));
    const outcome = await this.#ask('before-model', { request: { prompt, messages, tools }, signal });
    refuse(outcome);
    return outcome.action === 'modify' && outcome.request ? { ...request, ...outcome.request } : request;
  }

  /** The parts of an answer after the hooks. Throws `Hook.Blocked` or `Hook.Aborted`, with the usage in the details. */
  async after(parts: readonly Part[], signal: AbortSignal, usage: Usage): Promise<readonly Part[]> {
    if (!this.rewrite) return parts;
    const output = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
    const outcome = await this.#ask('after-model', { output, signal });
    refuse(outcome, usage);
    return outcome.action === 'modify' && outcome.output !== undefined ? withText(parts, outcome.output) : parts;
  }

  /** The text of an aborted answer after the hooks; empty when they refuse it or time out. */
  async partial(text: string): Promise<string> {
    if (text === '' || !this.rewrite) return text;
    const outcome = await this.#ask('after-model', { output: text, signal: AbortSignal.timeout(HOOK_LIMITS.afterStopMs) });
    if (outcome.action === 'allow') return text;
    return outcome.action === 'modify' ? (outcome.output ?? text) : '';
  }

  #ask(on: 'before-model' | 'after-model', question: Pick<HookContext, 'request' | 'output' | 'signal'>): Promise<HookOutcome> {
    return this.#hooks.run(on, { ...this.#call, agent: this.#agent, ...question });
  }
}

function refuse(outcome: HookOutcome, usage?: Usage): void {
  const details = usage === undefined ? {} : { details: [{ usage }] };
  if (outcome.action === 'block') throw failure('Hook.Blocked', `blocked by hook ${outcome.hook}: ${outcome.reason}`, details);
  if (outcome.action === 'abort') throw failure('Hook.Aborted', `aborted by hook ${outcome.hook}: ${outcome.reason}`, details);
}

/** Puts the new text at the position of the first text, before all calls. */
function withText(parts: readonly Part[], text: string): Part[] {
  const others = parts.filter(({ type }) => type !== 'text');
  const place = parts.findIndex(({ type }) => type === 'text' || type === 'tool_call');
  const before = place === -1 ? others : parts.slice(0, place);
  return text === '' ? others : [...before, { type: 'text', text }, ...others.slice(before.length)];
}
