/** What every provider takes. */
export const NAME_CHARS_MAX = 64;
const LEGAL_NAME = /^[a-zA-Z0-9_-]{1,64}$/u;

/**
 * The name of a call as providers take it back. A model may ask for a tool by any name (`functions.read`, or none at all): it is told
 * that there is no such tool, and the request that tells it must not be refused for the name.
 */
export function wireToolName(name: string): string {
  if (LEGAL_NAME.test(name)) return name;
  return name.replaceAll(/[^a-zA-Z0-9_-]/gu, '_').slice(0, NAME_CHARS_MAX) || 'unnamed';
}
