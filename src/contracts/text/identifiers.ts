import type { Part } from '../schemas/message.js';

/** Texts longer than these ends are looked at only there: a large output names what matters first or last. */
const HEAD_CHARS = 2_000;
const TAIL_CHARS = 1_000;
const IDENTIFIER_CHARS_MAX = 200;

const WORD = /[^\s"'`<>()[\]{},;|\\]{4,}/gu;

/** No identifier is without one of these: most words need no closer look. */
const SIGN = /[/.:#\d]/u;

/** What a later message may have to name again, as whole words. */
const KINDS: readonly RegExp[] = [
  // a URL, or a reference such as s3://bucket/key
  /^[a-z][a-z0-9+.-]*:\/\/\S+$/u,
  // a path from a root, or one of several folders, or one that ends in a file name
  /^(?:~|\.{1,2})?\/[\w.@+-]+(?:\/[\w.@+-]+)*\/?$/u,
  /^[\w.@+-]+(?:\/[\w.@+-]+){2,}\/?$/u,
  /^[\w.@+-]+\/[\w@+-]+\.[a-z][a-z0-9]{0,5}$/u,
  /^[\w.-]+\.(?:c|cpp|cs|css|csv|go|h|html|java|js|json|jsx|kt|lock|log|md|mjs|php|py|rb|rs|sh|sql|toml|ts|tsx|txt|xml|ya?ml)$/u,
  // the hash of a commit or an artifact, a UUID
  /^(?:[a-z0-9]{2,10}[:-])?(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}$/u,
  /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/iu,
  // a ticket, an issue, a record: ABC-123, #4711, order_12345
  /^(?:[A-Z][A-Z0-9]+-|#)\d+$/u,
  /^[a-z]{2,}[_-](?=[\w-]*\d)[\w-]{3,}$/iu,
];

/**
 * The paths, URLs, hashes and ids that a text names, each once, in the order in which they were named last. Of a text above 3,000
 * characters only both ends are looked at. None of them holds white space or a comma. Never throws.
 */
export function identifiersIn(text: string): string[] {
  const found = new Set<string>();
  for (const [word] of bothEnds(text).matchAll(WORD)) {
    if (word.length > IDENTIFIER_CHARS_MAX || !SIGN.test(word)) continue;
    const name = word.replace(/[.:!?*=]+$/u, '');
    if (!KINDS.some((kind) => kind.test(name))) continue;
    found.delete(name);
    found.add(name);
  }
  return [...found];
}

/** The identifiers in what some parts say, call and give, in the order of the parts. Thinking is not looked at. */
export function identifiersOf(parts: readonly Part[]): string[] {
  return parts.flatMap((part) => {
    switch (part.type) {
      case 'text':
        return identifiersIn(part.text);
      case 'tool_call':
        return identifiersIn(part.argsText ?? JSON.stringify(part.args));
      case 'tool_result':
        return identifiersOf(part.parts);
      case 'artifact':
        return identifiersIn(`${part.ref} ${part.head}`);
      case 'file':
        return identifiersIn(part.ref ?? '');
      case 'thinking':
        return [];
    }
  });
}

/** Cut between words: half a path is a wrong one. */
function bothEnds(text: string): string {
  if (text.length <= HEAD_CHARS + TAIL_CHARS) return text;
  return `${text.slice(0, HEAD_CHARS).replace(/\S+$/u, '')} ${text.slice(-TAIL_CHARS).replace(/^\S+/u, '')}`;
}
