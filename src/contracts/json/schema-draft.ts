/** The drafts of JSON Schema, by the word that identifies them in `$schema`. */
const DRAFTS = [
  ['2020-12', '2020-12'],
  ['2019-09', '2019-09'],
  ['draft-07', '7'],
  ['draft-06', '7'],
  ['draft-04', '4'],
] as const;

/** The words that `draftOf` accepts in `$schema`. */
export const DRAFT_WORDS: readonly string[] = DRAFTS.map(([word]) => word);

/** The draft of a JSON Schema; the newest without `$schema`, undefined for an unknown one. Never throws. */
export function draftOf({ $schema }: Readonly<Record<string, unknown>>): (typeof DRAFTS)[number][1] | undefined {
  if ($schema === undefined) return '2020-12';
  return DRAFTS.find(([word]) => typeof $schema === 'string' && $schema.includes(word))?.[1];
}
