import type { Part } from '../schemas/message.js';

/** Of a longer text only these ends are searched, because a large output names important things first or last. */
const HEAD_CHARS = 2_000;
const TAIL_CHARS = 1_000;
const IDENTIFIER_CHARS_MAX = 200;

const WORD = /[^\s"'`<>()[\]{},;|\\]{4,}/gu;

/** Every identifier contains one of these characters, so most words are skipped early. */
const SIGN = /[/.:#\d]/u;

/** Patterns of identifiers, as whole words. */
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
 * The paths, URLs, hashes and ids in a text, each once, in the order of their last occurrence. Of a text above 3,000 characters only both
 * ends are searched. No identifier contains white space or a comma. Never throws.
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

/** The identifiers in texts, calls and results of parts, in their order. Thinking is ignored. */
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

/** Both ends of a text, cut between words, so that no path is cut. */
function bothEnds(text: string): string {
  if (text.length <= HEAD_CHARS + TAIL_CHARS) return text;
  return `${text.slice(0, HEAD_CHARS).replace(/\S+$/u, '')} ${text.slice(-TAIL_CHARS).replace(/^\S+/u, '')}`;
}
