import { Context } from '@temporalio/activity';
import { TOOL_LIMITS } from '../../contracts/constants/limits.js';
import { cutMiddle, redact } from '../../contracts/text/redact.js';
import type { SecretMask } from '../../contracts/text/secret-mask.js';
import { BUILT_IN_TOOLS } from '../../tools/registry.js';

/**
 * Writes the stack of what a tool threw, and of its causes, to the worker's log. The model and the history have only the message. Not for
 * built-in tools: they throw to tell the model something, such as that a file is missing.
 */
export function logThrown(tool: string, error: unknown, secrets: SecretMask): void {
  if (!(error instanceof Error) || BUILT_IN_TOOLS.includes(tool)) return;
  Context.current().log.warn(`the tool ${tool} threw ${shown(error, secrets)}`, { tool });
}

/** Makes the log of what the code of a call throws where nothing catches it, maybe after the call has ended. */
export function strayLog(tool: string, secrets: SecretMask): (error: unknown) => void {
  const { log } = Context.current();
  return (error) => log.error(`the tool ${tool} threw where nothing catches it: ${shown(error, secrets)}`, { tool });
}

/** Masked whole, because a cut could leave a part of a secret. */
function shown(error: unknown, secrets: SecretMask): string {
  return cutMiddle(redact(secrets.text(textOf(error))), TOOL_LIMITS.loggedErrorBytesMax);
}

/** An object that is no error may have no text, or hold a whole request. */
function textOf(error: unknown): string {
  if (error instanceof Error) return stacksOf(error);
  return typeof error === 'string' ? error : Object.prototype.toString.call(error);
}

/** The stacks alone: other fields of an error may hold a whole request with its headers. */
function stacksOf(error: Error): string {
  const stacks: string[] = [];
  let each: unknown = error;
  while (each instanceof Error && stacks.length < TOOL_LIMITS.loggedCausesMax) {
    stacks.push(each.stack ?? each.message);
    each = each.cause;
  }
  return stacks.join('\ncaused by ');
}
