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
  // masked whole, because a cut could leave a part of a secret
  const text = cutMiddle(redact(secrets.text(stacksOf(error))), TOOL_LIMITS.loggedErrorBytesMax);
  Context.current().log.warn(`the tool ${tool} threw ${text}`, { tool });
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
