import { constants } from 'node:fs';
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { SKILL_LIMITS } from '../../contracts/constants/limits.js';
import { hasErrno } from '../../contracts/files/file-errors.js';
import { splitNames } from '../../define/agent/foreign-tools.js';
import { type FrontMatter, parseFrontMatter } from '../../define/agent/front-matter.js';
import { type Jail, openFile, openFolder, openJail } from '../workspace/jail.js';
import { WorkspaceError } from '../workspace/workspace-error.js';
import { readLooseOptions, readPlainOptions } from './loose-front-matter.js';

/** A skill: a folder with a `SKILL.md`. */
export interface Skill {
  readonly name: string;
  /** On one line. */
  readonly description: string;
  /** Absolute path of its folder. */
  readonly folder: string;
  /** Path of its `SKILL.md`, relative to the worker's folder or to the workspace. That of a plugin begins with the plugin's name. */
  readonly path: string;
  /** `worker`: the operator installed it. `workspace`: it came with the files of a run. */
  readonly from: 'worker' | 'workspace';
  /** `metadata.keywords`, else the options `keywords` or `tags` of other formats, in lower case. */
  readonly keywords: readonly string[];
  /** `allowed-tools`, as written. */
  readonly allowedTools: readonly string[];
}

/** The skills of a worker or a run, sorted by name, and the problems of folders that are no valid skills, one line each. */
export interface FoundSkills {
  readonly skills: readonly Skill[];
  readonly problems: readonly string[];
}

/** Where to look. */
export interface SkillPlaces {
  /** The worker's folder. @default none */
  readonly worker?: string | undefined;
  /** The folders of skills that plugins have, in their order. @default none */
  readonly plugins?: readonly { readonly name: string; readonly folder: string }[] | undefined;
  /** The workspace of the run. Its files are not trusted: no link leads out of it. @default none */
  readonly workspace?: string | undefined;
}

/** The folders of skills, in order: the first skill of a name is used. */
const SKILL_FOLDERS = ['skills', '.agents/skills', '.claude/skills'] as const;

export const SKILL_FILE = 'SKILL.md';

/** Finds the skills of a worker's folder, then those of plugins, then those of a workspace. Reads the beginning of each `SKILL.md`. Never throws for a missing folder. */
export async function findSkills({ worker, plugins = [], workspace }: SkillPlaces): Promise<FoundSkills> {
  const [own, ofPlugins, given] = await Promise.all([
    worker === undefined ? [] : readPlace(trustedPlace(worker)),
    Promise.all(plugins.map(readPlugin)),
    workspace === undefined ? [] : readPlace(await jailedPlace(workspace)),
  ]);
  const names = new Set<string>();
  const skills: Skill[] = [];
  const problems: string[] = [];
  for (const found of [...own, ...ofPlugins.flat(), ...given]) {
    if ('problem' in found) problems.push(found.problem);
    else if (!names.has(found.name)) skills.push(found);
    if ('name' in found) names.add(found.name);
  }
  return { skills: skills.toSorted((a, b) => (a.name < b.name ? -1 : 1)), problems };
}

/** A root of skills, with its own rules about links. */
interface Place {
  readonly from: Skill['from'];
  readonly root: string;
  /** The names of the entries of a folder. Empty if it is missing. */
  list(folder: string): Promise<readonly string[]>;
  /** Undefined if the file is missing or not a regular file. */
  open(file: string): Promise<FileHandle | undefined>;
}

/** The worker's folder belongs to the operator, whose links are followed. */
function trustedPlace(root: string): Place {
  return {
    from: 'worker',
    root,
    list: async (folder) => (await ifThere(readdir(join(root, folder)))) ?? [],
    open: async (file) => await ifThere(open(join(root, file), constants.O_RDONLY | constants.O_NONBLOCK)),
  };
}

async function jailedPlace(workspace: string): Promise<Place> {
  const jail = await openJail(workspace);
  return {
    from: 'workspace',
    root: jail.root,
    list: async (folder) => (await ifThere(listJailed(jail, folder))) ?? [],
    open: async (file) => await ifThere(openFile(jail, file)),
  };
}

async function listJailed(jail: Jail, path: string): Promise<string[]> {
  const folder = await openFolder(jail, path);
  try {
    return await readdir(folder.at('.'));
  } finally {
    await folder.handle.close();
  }
}

/** No entry, or one that is no regular file. */
const ABSENT = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'EISDIR', 'ESPIPE'];

/** Undefined if there is no such entry, or a workspace refuses it. */
async function ifThere<T>(looking: Promise<T>): Promise<T | undefined> {
  try {
    return await looking;
  } catch (error) {
    if (error instanceof WorkspaceError || ABSENT.some((code) => hasErrno(error, code))) return undefined;
    throw error;
  }
}

type Found = Skill | { readonly problem: string };

async function readPlace(place: Place): Promise<Found[]> {
  const folders = await Promise.all(SKILL_FOLDERS.map((folder) => readFolder(place, folder)));
  return folders.flat();
}

/** The skills of a plugin, which the operator installed. */
async function readPlugin({ name, folder }: { readonly name: string; readonly folder: string }): Promise<Found[]> {
  const found = await readFolder(trustedPlace(dirname(folder)), basename(folder));
  return found.map((each) => ('problem' in each ? each : { ...each, path: `${name}/${each.path}` }));
}

async function readFolder(place: Place, folder: string): Promise<Found[]> {
  const names = (await place.list(folder)).filter((name) => !name.startsWith('.')).toSorted();
  const { foldersMax } = SKILL_LIMITS;
  const found = await Promise.all(names.slice(0, foldersMax).map((name) => readSkill(place, `${folder}/${name}`)));
  const left = names.length > foldersMax ? [{ problem: `${folder}: only the first ${foldersMax} skills are read` }] : [];
  return [...found.filter((each) => each !== undefined), ...left];
}

async function readSkill(place: Place, folder: string): Promise<Found | undefined> {
  const path = `${folder}/${SKILL_FILE}`;
  const text = await readHead(place, path);
  if (text === undefined) return undefined;
  const plain = readPlainOptions(text);
  if (plain) return atPlace(place, skillOf(plain, folder), folder);
  const parsed = await parseFrontMatter(text);
  if (!parsed) return { problem: `${path}: no front matter with name and description within ${SKILL_LIMITS.frontMatterBytesMax} bytes` };
  const options = 'problem' in parsed ? readLooseOptions(text) : parsed.options;
  if (!options) return { problem: `${path}${'line' in parsed ? `:${parsed.line}` : ''}: ${'problem' in parsed ? parsed.problem : ''}` };
  return atPlace(place, skillOf(options, folder), folder);
}

function atPlace({ root, from }: Place, skill: ReturnType<typeof skillOf>, folder: string): Found {
  return 'problem' in skill ? skill : { ...skill, folder: join(root, folder), path: `${folder}/${SKILL_FILE}`, from };
}

async function readHead(place: Place, path: string): Promise<string | undefined> {
  const file = await place.open(path);
  if (!file) return undefined;
  try {
    const { frontMatterBytesMax } = SKILL_LIMITS;
    const read = await ifThere(file.read(Buffer.allocUnsafe(frontMatterBytesMax), 0, frontMatterBytesMax, 0));
    return read?.buffer
      .toString('utf8', 0, read.bytesRead)
      .replace(/^\uFEFF/u, '')
      .replaceAll('\r\n', '\n');
  } finally {
    await file.close();
  }
}

const NAME = /^[\p{L}\p{N}][\p{L}\p{N}._-]*$/u;

function skillOf(
  options: FrontMatter['options'],
  folder: string,
): Pick<Skill, 'name' | 'description' | 'keywords' | 'allowedTools'> | { readonly problem: string } {
  const path = `${folder}/${SKILL_FILE}`;
  const name = options['name'] ?? folder.slice(folder.lastIndexOf('/') + 1);
  if (typeof name !== 'string' || !NAME.test(name) || name.length > SKILL_LIMITS.nameCharsMax)
    return { problem: `${path}: name: use at most ${SKILL_LIMITS.nameCharsMax} letters, digits and hyphens` };
  const { description, metadata } = options;
  if (typeof description !== 'string' || description.trim() === '') return { problem: `${path}: description: missing` };
  const ofMetadata: unknown = typeof metadata === 'object' && metadata !== null ? Reflect.get(metadata, 'keywords') : undefined;
  return {
    name,
    description: oneLine(description),
    keywords: listOf(ofMetadata ?? options['keywords'] ?? options['tags'], (text) => text.split(','))
      .slice(0, SKILL_LIMITS.keywordsMax)
      .map((word) => word.toLowerCase()),
    allowedTools: listOf(options['allowed-tools'], splitNames),
  };
}

/** A list, or a text that is split. */
function listOf(value: unknown, split: (text: string) => string[]): string[] {
  const items = Array.isArray(value) ? value.map(String) : typeof value === 'string' ? split(value) : [];
  return items.flatMap((item) => item.trim() || []);
}

function oneLine(text: string): string {
  const line = text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  const { descriptionCharsMax } = SKILL_LIMITS;
  return line.length <= descriptionCharsMax ? line : `${line.slice(0, descriptionCharsMax - 1).toWellFormed()}…`;
}
