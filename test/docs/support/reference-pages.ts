import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { CLI_OPTION_PARTS, CLI_PARTS } from './cli-parts.js';
import { CONFIG_PARTS } from './config-parts.js';
import { GATEWAY_PARTS } from './gateway-parts.js';
import { HTTP_PARTS } from './http-parts.js';
import { LIMIT_PARTS } from './limit-parts.js';
import { filledPage } from './markdown.js';
import { MODEL_PARTS } from './model-parts.js';
import { RUN_PARTS } from './run-parts.js';
import { SESSION_PARTS } from './session-parts.js';

/** The folder of the reference pages. */
export const REFERENCE = fileURLToPath(new URL('../../../docs/reference/', import.meta.url));

/** The pages of the reference, each with the generated parts that it may use. */
export const PAGES: Readonly<Record<string, Readonly<Record<string, () => string>>>> = {
  'agent.md': CONFIG_PARTS,
  'channels.md': { ...CONFIG_PARTS, ...LIMIT_PARTS },
  'cli.md': CLI_PARTS,
  'config.md': CONFIG_PARTS,
  'events.md': RUN_PARTS,
  'guard-limits.md': LIMIT_PARTS,
  'handlers.md': RUN_PARTS,
  'hooks.md': CONFIG_PARTS,
  'http.md': { ...HTTP_PARTS, ...LIMIT_PARTS },
  'limits.md': LIMIT_PARTS,
  'mcp.md': { ...CONFIG_PARTS, ...LIMIT_PARTS },
  'mcp-server.md': { ...GATEWAY_PARTS, ...LIMIT_PARTS },
  'messages.md': RUN_PARTS,
  'models.md': MODEL_PARTS,
  'options.md': CLI_OPTION_PARTS,
  'plugins.md': CONFIG_PARTS,
  'policy.md': CONFIG_PARTS,
  'presets.md': LIMIT_PARTS,
  'prompt.md': { ...CONFIG_PARTS, ...LIMIT_PARTS },
  'providers.md': MODEL_PARTS,
  'queries.md': RUN_PARTS,
  'run.md': RUN_PARTS,
  'scripts.md': LIMIT_PARTS,
  'sessions.md': { ...SESSION_PARTS, ...LIMIT_PARTS },
  'tool.md': { ...CONFIG_PARTS, ...LIMIT_PARTS },
  'worker-limits.md': LIMIT_PARTS,
};

/** The names of all generated parts, so that a test finds one that no page shows. */
export const PART_NAMES: ReadonlySet<string> = new Set(Object.values(PAGES).flatMap((parts) => Object.keys(parts)));

/** The text of a page as it stands. */
export async function readPage(page: string): Promise<string> {
  return readFile(`${REFERENCE}${page}`, 'utf8');
}

/** The text of a page with its parts generated anew. */
export async function generatedPage(page: string): Promise<string> {
  return filledPage(await readPage(page), PAGES[page] ?? {});
}
