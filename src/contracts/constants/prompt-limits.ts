/** Limits of config files, system prompts and skills. limits.ts exports them too. */

import { KIB, MIB, SECOND_MS } from './units.js';

/** Limits of config files. */
export const CONFIG_LIMITS = {
  /** Plugins of a config: more than any project has, and each is loaded and checked at the start. */
  pluginsMax: 100,
  /** Largest `agents/NAME.md`. A larger prompt would not fit the setup of a run. */
  agentFileBytesMax: 128 * KIB,
  /** Largest front matter with its aliases expanded. */
  frontMatterExpandedBytesMax: MIB,
  /** Levels of lists and groups in a front matter. */
  frontMatterDepthMax: 64,
  /** Entries of `import`. */
  importsMax: 20,
} as const;

/** Limits of system prompts. */
export const PROMPT_LIMITS = {
  /** Characters of one bootstrap file such as `SOUL.md` that the prompt contains. It is sent with every request. */
  bootstrapFileCharsMax: 20_000,
  /** Characters of all bootstrap files of a prompt. */
  bootstrapTotalCharsMax: 60_000,
  /** Entries of a workspace that are looked at to decide whether it is new. */
  newWorkspaceEntriesMax: 50,
  /** Time limit of a `prompt` that is a function. */
  functionMsMax: 10 * SECOND_MS,
  /** Rules of an agent. */
  rulesMax: 100,
  /** Characters of one rule. */
  ruleCharsMax: 2_000,
} as const;

/** Limits of skills. */
export const SKILL_LIMITS = {
  /** Skills in one folder. More are not read. */
  foldersMax: 200,
  /** Part of a `SKILL.md` that must contain its front matter. */
  frontMatterBytesMax: 16 * KIB,
  /** Longest name, in characters: that of the open format. */
  nameCharsMax: 64,
  /** Longest description in the prompt, in characters: that of the open format. */
  descriptionCharsMax: 1_024,
  /** Characters of the list of skills in the prompt. */
  listCharsMax: 30_000,
  /** Keywords of a skill that are compared with a task. */
  keywordsMax: 50,
  /** Beginning of a task that is compared with skills, in characters. */
  matchedTaskCharsMax: 20_000,
  /** Words of a description that a task must contain to match it. */
  matchWordsMin: 3,
  /** Skills whose text one prompt contains. */
  expandedMax: 3,
  /** Characters of the text of one expanded skill. */
  expandedCharsMax: 20_000,
  /** Files of a skill that `read_skill` lists. */
  filesShownMax: 100,
} as const;

/** Limits of the memory of agents. */
export const MEMORY_LIMITS = {
  /** Characters of one note. A longer text belongs in a file of the workspace. */
  noteCharsMax: 8_000,
  /** Tags of one note. */
  tagsMax: 10,
  /** Characters of one tag. */
  tagCharsMax: 40,
  /** Files of a memory. Further ones are not read. */
  filesMax: 1_000,
  /** Part of a file that is read. */
  fileBytesMax: 4 * MIB,
  /** Size at which a file of notes is full. Further notes go to the next file of the month. */
  fullFileBytes: MIB,
  /** Characters of a section of a file that are searched and shown. */
  sectionCharsMax: 32_000,
  /** Notes that `recall` returns without a `limit`. */
  recalledDefault: 5,
  /** Most notes that `recall` returns. */
  recalledMax: 20,
  /** Memories whose index a worker keeps. */
  indexesMax: 8,
  /** Highest `lastTurns`. A longer conversation belongs into a session. */
  lastTurnsMax: 20,
  /** Closed runs of an agent that are looked at for its last turns. Each one is a request to the server. */
  turnsLookedAtMax: 50,
  /** Characters of a task or an answer of an earlier run. */
  turnTextCharsMax: 8_000,
  /** Characters of all turns of earlier runs, as JSON. Older ones are left out. */
  turnsCharsMax: 60_000,
} as const;
