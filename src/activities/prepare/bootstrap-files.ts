import { opendir } from 'node:fs/promises';
import { PROMPT_LIMITS } from '../../contracts/constants/limits.js';
import type { PromptMode } from '../../define/agent/agent-prompt.js';
import { type InstructionFile, readFileHeads } from './instruction-files.js';

/** The bootstrap files of a workspace, and the names of those that it does not have. */
export interface BootstrapFiles {
  readonly files: readonly InstructionFile[];
  readonly missing: readonly string[];
}

/** The first steps in a new workspace. */
const BOOTSTRAP = 'BOOTSTRAP.md';

/** The file names, in the order of the prompt. */
const NAMES = ['AGENTS.md', 'SOUL.md', 'TOOLS.md', 'USER.md', 'CLAUDE.md', BOOTSTRAP];

/** A sub-agent has no identity and no user of its own. */
const NAMES_OF_SUB_AGENTS = ['AGENTS.md', 'TOOLS.md', 'CLAUDE.md'];

/** A character has at most four bytes in UTF-8. */
const BYTES_PER_CHARACTER = 4;

/**
 * Reads the bootstrap files of a workspace. Each one is cut at 20,000 characters, and all of them at 60,000, with a mark. Empty files are
 * left out, and so is BOOTSTRAP.md unless the workspace is new. Rejects when an existing file cannot be read.
 */
export async function readBootstrapFiles(workspace: string, mode: Exclude<PromptMode, 'none'>): Promise<BootstrapFiles> {
  const all = mode === 'full' ? NAMES : NAMES_OF_SUB_AGENTS;
  const { bootstrapFileCharsMax, bootstrapTotalCharsMax } = PROMPT_LIMITS;
  const heads = await readFileHeads(workspace, all, bootstrapFileCharsMax * BYTES_PER_CHARACTER);
  const hasBootstrap = heads.some(({ name }) => name === BOOTSTRAP) && (await isNewWorkspace(workspace));
  let left: number = bootstrapTotalCharsMax;
  const files = heads.flatMap(({ name, text, isLonger }) => {
    if (text.trim() === '' || (name === BOOTSTRAP && !hasBootstrap)) return [];
    const shown = cutCharacters(text, { name, charsMax: Math.min(bootstrapFileCharsMax, left), isLonger });
    left = Math.max(0, left - shown.length);
    return [{ name, text: shown }];
  });
  const missing = all.filter((name) => name !== BOOTSTRAP && !heads.some((head) => head.name === name));
  return { files, missing };
}

/** What of a text the prompt contains. */
interface Cut {
  readonly name: string;
  readonly charsMax: number;
  /** The file is longer than the text. */
  readonly isLonger: boolean;
}

/** Cuts a text, with a mark that names the file. Characters outside the basic plane stay whole. */
function cutCharacters(text: string, { name, charsMax, isLonger }: Cut): string {
  if (text.length <= charsMax && !isLonger) return text;
  const head = text.slice(0, charsMax).replace(/[\uD800-\uDBFF]$/u, '');
  return `${head.trimEnd()}\n\n[${name} is cut here, after ${head.length} characters; read the rest from the file]`;
}

/** True while a workspace contains nothing but bootstrap files and hidden entries. */
async function isNewWorkspace(workspace: string): Promise<boolean> {
  let looked = 0;
  for await (const { name } of await opendir(workspace)) {
    looked += 1;
    const isOwn = name.startsWith('.') || NAMES.includes(name);
    if (!isOwn || looked > PROMPT_LIMITS.newWorkspaceEntriesMax) return false;
  }
  return true;
}
