import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { SKILL_LIMITS } from '../../contracts/constants/limits.js';
import { cleanText } from '../../contracts/text/sanitize-text.js';
import { openFile, openJail } from '../workspace/jail.js';
import { SKILL_FILE, type Skill } from './find-skills.js';

/** A character has at most four bytes in UTF-8. */
const BYTES_MAX = SKILL_LIMITS.expandedCharsMax * 4 + SKILL_LIMITS.frontMatterBytesMax;

const FRONT_MATTER = /^---[ \t]*\n.*?\n---[ \t]*(?:\n|$)/su;

/**
 * The text of a skill below its front matter, cut at 20,000 characters with a mark. A file of a workspace is opened without leaving it.
 * Throws the file system's error, or WorkspaceError.
 */
export async function readSkillText(skill: Skill, workspace: string | undefined): Promise<string> {
  const handle = await openSkill(skill, workspace);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(BYTES_MAX), 0, BYTES_MAX, 0);
    const text = buffer
      .toString('utf8', 0, bytesRead)
      .replace(/^\uFEFF/u, '')
      .replaceAll('\r\n', '\n');
    const body = cleanText(text).replace(FRONT_MATTER, '').trim();
    if (body.length <= SKILL_LIMITS.expandedCharsMax) return body;
    const head = body.slice(0, SKILL_LIMITS.expandedCharsMax).replace(/[\uD800-\uDBFF]$/u, '');
    return `${head.trimEnd()}\n\n[the skill is cut here; read the rest with read_skill]`;
  } finally {
    await handle.close();
  }
}

async function openSkill({ from, folder, path }: Skill, workspace: string | undefined): Promise<FileHandle> {
  if (from === 'workspace') return await openFile(await openJail(workspace), path);
  return await open(join(folder, SKILL_FILE), constants.O_RDONLY | constants.O_NONBLOCK);
}
