import { SKILL_LIMITS } from '../../contracts/constants/limits.js';

/** The part of a skill that a task is compared with. */
export interface MatchedFields {
  readonly name: string;
  readonly description: string;
  readonly keywords: readonly string[];
}

/** A name or a keyword in the task counts more than any number of words of a description. */
const NAMED_SCORE = 1_000;

/** Shorter words are in most descriptions. */
const WORD_CHARS_MIN = 4;

/** Words of instructions, not of subjects. */
const COMMON = new Set(
  (
    'about after again also another anything before being between both cannot could does doing each every from have into just like make makes ' +
    'more most need needs only other over same should some such than that their them then there these they this those through under until user ' +
    'users using very want wants what when where which while will with within without work working would your task tasks file files help helps'
  ).split(' '),
);

/**
 * The skills that match a task, best first; equal ones by name. A skill matches if the task contains all words of its name, one of its
 * keywords, or at least three words of its description. Case and a plural `s` are ignored, and common words do not count. Pure.
 */
export function matchSkills<Skill extends MatchedFields>(skills: readonly Skill[], task: string): readonly Skill[] {
  const words = wordsOf(task.slice(0, SKILL_LIMITS.matchedTaskCharsMax));
  const text = ` ${words.join(' ')} `;
  const known = new Set(words);
  return skills
    .map((skill) => ({ skill, score: scoreOf(skill, text, known) }))
    .filter(({ score }) => score >= SKILL_LIMITS.matchWordsMin)
    .toSorted((a, b) => b.score - a.score || (a.skill.name < b.skill.name ? -1 : 1))
    .map(({ skill }) => skill);
}

function scoreOf({ name, description, keywords }: MatchedFields, text: string, known: ReadonlySet<string>): number {
  const parts = wordsOf(name);
  const isNamed = parts.length > 0 && parts.every((word) => known.has(word));
  const hasKeyword = keywords.some((keyword) => {
    const phrase = wordsOf(keyword).join(' ');
    return phrase !== '' && text.includes(` ${phrase} `);
  });
  const shared = new Set(wordsOf(description).filter((word) => word.length >= WORD_CHARS_MIN && !COMMON.has(word) && known.has(word)));
  return (isNamed || hasKeyword ? NAMED_SCORE : 0) + shared.size;
}

/** Lower-case words of letters and digits, without a plural `s`. */
function wordsOf(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.map((word) => (word.length >= WORD_CHARS_MIN && /[^s]s$/u.test(word) ? word.slice(0, -1) : word));
}
