import { COMPACTION_LIMITS } from '../../../contracts/constants/limits.js';
import type { ContentPart, FilePart, Message, Part, TextPart, ToolResultPart } from '../../../contracts/schemas/message.js';
import { charsOf } from '../../../contracts/text/estimate-tokens.js';
import { identifiersIn } from '../../../contracts/text/identifiers.js';

/** The maximum length of the identifiers in a stub. */
const NAMED_CHARS_MAX = 200;

/**
 * An old message with shortened tool results: the beginning, a mark with the way to get the rest again, and the identifiers in the rest.
 * Embedded files become a mark. Returns the same object when nothing gets shorter.
 */
export function stubMessage(message: Message): Message {
  const parts = message.parts.map(stubPart);
  return parts.every((part, index) => part === message.parts[index]) ? message : { ...message, parts };
}

function stubPart(part: Part): Part {
  if (part.type === 'tool_result') return shorter(part, stubResult(part));
  if (part.type === 'file' && part.dataBase64 !== undefined) return shorter(part, fileMark(part));
  return part;
}

function shorter<P extends Part>(part: P, stub: Part): P | Part {
  return charsOf([stub]) < charsOf([part]) ? stub : part;
}

function stubResult(part: ToolResultPart): ToolResultPart {
  const parts = part.parts.map((content): ContentPart => {
    if (content.type === 'artifact') return { ...content, head: content.head.slice(0, COMPACTION_LIMITS.stubChars) };
    if (content.type !== 'file' || content.dataBase64 === undefined) return content;
    const mark = fileMark(content);
    return charsOf([mark]) < charsOf([content]) ? mark : content;
  });
  const texts = parts.filter((content) => content.type === 'text');
  const text = texts.map((content) => content.text).join('\n');
  if (text.length <= COMPACTION_LIMITS.stubbedCharsMax) return { ...part, parts };
  const ref = parts.find((content) => content.type === 'artifact')?.ref;
  return { ...part, parts: [{ type: 'text', text: stubText(text, ref) }, ...parts.filter((content) => content.type !== 'text')] };
}

/** At most `stubbedCharsMax` characters, so that a stub is never stubbed again. */
function stubText(text: string, ref: string | undefined): string {
  const head = text.slice(0, COMPACTION_LIMITS.stubChars);
  const rest = text.slice(COMPACTION_LIMITS.stubChars);
  const bytes = new TextEncoder().encode(rest).length;
  const identifiers = identifiersIn(rest);
  const kept = ref ?? identifiers.findLast((name) => /^sha256:[0-9a-f]{64}$/u.test(name));
  const again = kept === undefined ? 'call again' : `call again or read_artifact ${kept}`;
  const named = newestWithin(identifiers, NAMED_CHARS_MAX);
  return `${head}\n[${bytes} bytes left out; ${again}]${named === '' ? '' : `\nIt named: ${named}`}`
    .slice(0, COMPACTION_LIMITS.stubbedCharsMax)
    .toWellFormed();
}

function newestWithin(names: readonly string[], charsMax: number): string {
  let text = '';
  for (const name of names.toReversed()) {
    const longer = text === '' ? name : `${name}, ${text}`;
    if (longer.length > charsMax) break;
    text = longer;
  }
  return text;
}

function fileMark({ mime, dataBase64 = '' }: FilePart): TextPart {
  const bytes = Math.floor((dataBase64.length * 3) / 4);
  return { type: 'text', text: `[${mime} of ${bytes} bytes left out]` };
}
