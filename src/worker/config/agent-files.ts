import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CONFIG_LIMITS } from '../../contracts/constants/limits.js';

/** An agent read from a file, not validated, or the problem with the file. */
export interface AgentFile {
  readonly name: string;
  readonly file: string;
  readonly agent: unknown;
  readonly problem?: string;
}

/** Options between two lines of `---`, then the prompt. */
const FRONT_MATTER = /^---\n(?<options>(?:.*?\n)?)---[ \t]*(?:\n(?<prompt>.*))?$/su;

/**
 * Reads the agents of `agents/NAME.md`, sorted by name. The front matter holds the options, the text below is the prompt. Ignores a
 * file without front matter. Never throws for an invalid file: `problem` describes it, so that all problems are reported together.
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
    return { name, file, agent: {}, problem: `the file has ${found.size} bytes (limit: ${CONFIG_LIMITS.agentFileBytesMax})` };
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
    if (typeof parsed !== 'object' || Array.isArray(parsed)) return { agent: {}, problem: 'the front matter is not a list of options' };
    return { agent: { ...parsed, prompt } };
  } catch (error) {
    return { agent: {}, problem: (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '' };
  }
}
