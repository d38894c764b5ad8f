import { didYouMean } from '../../../contracts/text/did-you-mean.js';
import type { Config } from '../../../define/define-config.js';
import { findSkills, type SkillPlaces } from '../../../tools/skills/find-skills.js';

/** Checks the skills that agents name. A skill of a workspace is not known before a run. Reads no folder if no agent names one. */
export async function skillProblems({ agents = {} }: Config, places: Pick<SkillPlaces, 'worker' | 'plugins'>): Promise<string[]> {
  const named = Object.entries(agents).flatMap(([agent, { skills, workspaceSkills }]) =>
    Array.isArray(skills) && !workspaceSkills ? skills.map((skill) => ({ agent, skill })) : [],
  );
  if (named.length === 0) return [];
  const { skills, problems } = await findSkills(places);
  const names = skills.map(({ name }) => name);
  const missing = named.filter(({ skill }) => !names.includes(skill));
  if (missing.length === 0) return [];
  return [
    ...missing.map(({ agent, skill }) => `agents.${agent}.skills: no skill named "${skill}"${didYouMean(skill, names)}`),
    ...problems,
  ];
}
