import { createHash } from 'node:crypto';
import { TOOL_LIMITS } from '../../contracts/constants/limits.js';

const NAME_CHARS_MAX = 64;
const HASH_CHARS = 8;

/**
 * The name of a server's tool, as models see it: `SERVER_TOOL`. Characters that providers refuse become `_`. A name that was changed in this
 * way or that is too long ends with a hash of the server's own name, so that no two tools have one name. Pure.
 */
export function mcpToolName(server: string, tool: string): string {
  const whole = `${server}_${tool}`;
  if (TOOL_LIMITS.namePattern.test(whole)) return whole;
  const hash = createHash('sha256').update(whole).digest('hex').slice(0, HASH_CHARS);
  return `${whole.replaceAll(/[^\w-]/gu, '_').slice(0, NAME_CHARS_MAX - HASH_CHARS - 1)}_${hash}`;
}

/** The server of a tool's name, which may be no tool of a server at all: what is before the first `_`. */
export function serverOfTool(name: string): string {
  return name.slice(0, Math.max(0, name.indexOf('_')));
}
