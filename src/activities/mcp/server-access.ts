import { KeyReference } from '../../define/worker/credentials.js';
import type { KeyRing } from '../../providers/contract/access-options.js';

const PACKAGE = '@modelcontextprotocol/sdk';

/** Loads a part of the MCP SDK, an optional peer dependency. Rejects with what to install where it is missing. */
export async function loadSdk<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    if (!(cause instanceof Error) || !('code' in cause) || cause.code !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw new Error(`MCP servers need the package ${PACKAGE}; install it with: npm install ${PACKAGE}`, { cause });
  }
}

/** Values of the config, with what their references name. Throws an Error that names a reference without a value. */
export function resolvedValues(values: Readonly<Record<string, string>>, keys: KeyRing): Record<string, string> {
  const entries = Object.entries(values).map(([name, given]) => {
    if (!KeyReference.safeParse(given).success) return [name, given] as const;
    const value = keys.resolve(given);
    if (value === undefined) throw new Error(keys.problem(given) ?? `SECRET_MISSING ${given}`);
    return [name, value] as const;
  });
  return Object.fromEntries(entries);
}
