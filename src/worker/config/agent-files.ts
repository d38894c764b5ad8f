import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CONFIG_LIMITS } from '../../contracts/constants/limits.js';

/** An agent as it stands in a file: unchecked, or why it cannot be read. */
export interface AgentFile {
  readonly name: string;
  readonly file: string;
  readonly agent: unknown;
  readonly problem?: string;
}

/** Options between two lines of dashes, then the prompt. */
const FRONT_MATTER = /^---\n(?<options>(?:.*?\n)?)---[ \t]*(?:\n(?<prompt>.*))?$/su;

/**
 * The agents of `agents/NAME.md`, in the order of their names: the front matter holds their options, the text below is their prompt.
 * A file without front matter is no agent. Never throws for a broken one: its problem is told with all others.
 */
export async function readAgentFiles(cwd: string): Promise<AgentFile[]> {
  const names = await readdir(join(cwd, 'agents')).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    throw error;
  });
  const files = names.filter((name) => name.endsWith('.md')).toSorted();
  const agents = await Promise.all(files.map((file) => readAgentFile(join(cwd, 'agents', file), file.slice(0, -'.md'.length))));
  return agents.filter((agent) => agent !== undefined);
}

async function readAgentFile(file: string, name: string): Promise<AgentFile | undefined> {
  const found = await stat(file);
  if (!found.isFile()) return undefined;
  if (found.size > CONFIG_LIMITS.agentFileBytesMax) {
    return { name, file, agent: {}, problem: `${found.size} bytes, at most ${CONFIG_LIMITS.agentFileBytesMax}` };
  }
  const text = (await readFile(file, 'utf8')).replace(/^\uFEFF/u, '').replaceAll('\r\n', '\n');
  const { options, prompt = '' } = FRONT_MATTER.exec(text)?.groups ?? {};
  if (options === undefined) return undefined;
  return { name, file, ...(await parseOptions(options, prompt.trim())) };
}

async function parseOptions(options: string, prompt: string): Promise<Pick<AgentFile, 'agent' | 'problem'>> {
  const { parse } = await import('yaml');
  try {
    const parsed: unknown = parse(options) ?? {};
    if (typeof parsed !== 'object' || Array.isArray(parsed)) return { agent: {}, problem: 'its front matter is no list of options' };
    return { agent: { ...parsed, prompt } };
  } catch (error) {
    return { agent: {}, problem: (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '' };
  }
}
