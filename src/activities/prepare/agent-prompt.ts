import { PROMPT_LIMITS } from '../../contracts/constants/limits.js';
import type { RunContext } from '../../contracts/schemas/run-context.js';
import { didYouMean } from '../../contracts/text/did-you-mean.js';
import { echoValue } from '../../contracts/text/echo-value.js';
import { cleanText } from '../../contracts/text/sanitize-text.js';
import type { AgentDefinition } from '../../define/define-agent.js';
import { orAbort } from '../../providers/http/abortable.js';
import { failure, messageOf } from '../runtime/failures.js';

/** The prompt of an agent for one run. */
export interface ResolvedPrompt {
  readonly text: string;
  /** Variables that the prompt contains, so that they are not listed again. */
  readonly used: ReadonlySet<string>;
  /** True if the text is the same for each run of the agent. */
  readonly isFixed: boolean;
}

/** The run that a prompt is for. */
export interface PromptedRun {
  readonly runId: string;
  /** Name of the agent. */
  readonly name: string;
  readonly agent: AgentDefinition;
  readonly context: RunContext | undefined;
  /** Aborts a function. */
  readonly signal?: AbortSignal | undefined;
}

/** `{{name}}`, with spaces inside; or `\{{`, which stays as two braces. */
const PLACEHOLDER = /\\\{\{|\{\{\s*(?<name>[\p{L}\p{N}_.-]+)\s*\}\}/gu;

/**
 * The agent's own prompt: its text, its template with the variables of the run, or what its function returns. Throws `Input.Invalid`:
 * `PROMPT_VARIABLE` for a variable that the run does not give, `PROMPT_FUNCTION` for a function that fails.
 */
export async function resolveAgentPrompt(run: PromptedRun): Promise<ResolvedPrompt> {
  const { agent, name, context } = run;
  const { prompt, promptTemplate = false } = agent;
  if (typeof prompt === 'function') return { text: await callFunction(prompt, run), used: new Set(), isFixed: false };
  if (!promptTemplate) return { text: prompt, used: new Set(), isFixed: true };
  const { text, used, missing } = fillTemplate(prompt, context?.variables ?? {});
  if (missing.length > 0) throw failure('Input.Invalid', missingVariables(name, missing, Object.keys(context?.variables ?? {})));
  return { text, used, isFixed: used.size === 0 };
}

/** A template with its values. */
export interface FilledTemplate {
  readonly text: string;
  readonly used: ReadonlySet<string>;
  /** Names without a value. Their placeholders are unchanged. */
  readonly missing: readonly string[];
}

/** Replaces each `{{name}}` once: braces in a value are text. `\{{` gives two braces. Never throws. */
export function fillTemplate(template: string, variables: Readonly<Record<string, string>>): FilledTemplate {
  const used = new Set<string>();
  const missing = new Set<string>();
  const text = template.replaceAll(PLACEHOLDER, (whole: string, name: string | undefined) => {
    if (name === undefined) return '{{';
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    (value === undefined ? missing : used).add(name);
    return value ?? whole;
  });
  return { text, used, missing: [...missing] };
}

function missingVariables(agent: string, missing: readonly string[], given: readonly string[]): string {
  const names = missing.map((name) => `{{${name}}}${didYouMean(name, given)}`).join(', ');
  const available = given.length === 0 ? 'the run gives no variables' : `given: ${given.join(', ')}`;
  return `PROMPT_VARIABLE: the prompt of agent ${echoValue(agent)} needs ${names}; ${available}. Set context.variables.`;
}

type PromptFunction = Extract<AgentDefinition['prompt'], (...args: never) => unknown>;

async function callFunction(prompt: PromptFunction, { runId, name, context = {}, signal: outer }: PromptedRun): Promise<string> {
  const timeout = AbortSignal.timeout(PROMPT_LIMITS.functionMsMax);
  const signal = AbortSignal.any([timeout, ...(outer ? [outer] : [])]);
  const problem = (why: string, cause?: unknown): Error =>
    failure('Input.Invalid', `PROMPT_FUNCTION: the prompt of agent ${echoValue(name)} ${why}`, {
      ...(cause === undefined ? {} : { cause }),
      // it may have asked a service that is down for a moment
      nonRetryable: false,
    });
  const given = structuredClone(context);
  const call = async (): Promise<unknown> => await prompt({ agent: name, runId, context: given, variables: given.variables ?? {}, signal });
  const text = await orAbort(call(), signal).catch((error: unknown) => {
    outer?.throwIfAborted();
    throw timeout.aborted ? problem(`took longer than ${PROMPT_LIMITS.functionMsMax} ms`) : problem(`threw: ${messageOf(error)}`, error);
  });
  if (typeof text !== 'string') throw problem('returned no text');
  return cleanText(text);
}
