import { hashMessage } from '../../contracts/digest.js';
import type { ContentPart, FilePart, Message, Part } from '../../contracts/schemas/message.js';
import type { SecretMask } from '../../contracts/text/secret-mask.js';

/** A message that an activity returns, with its hash. */
export interface HashedMessage {
  readonly message: Message;
  readonly hash: string;
}

/** The parts without secrets; the same array when they have none. Names, ids and references are not searched. */
export function maskParts<Some extends Part>(parts: readonly Some[], secrets: SecretMask): readonly Some[] {
  const masked = parts.map((part) => maskPart(part, secrets));
  // a masked part keeps its type
  return masked.some((part, index) => part !== parts[index]) ? (masked as Some[]) : parts;
}

/** The message without secrets; the same message when it has none. */
export function maskMessage(message: Message, secrets: SecretMask): Message {
  const parts = maskParts(message.parts, secrets);
  return parts === message.parts ? message : { ...message, parts: [...parts] };
}

/** The message without secrets, with the hash of that; the same object when it has none. */
export function maskHashed<Hashed extends HashedMessage>(hashed: Hashed, secrets: SecretMask): Hashed {
  const message = maskMessage(hashed.message, secrets);
  return message === hashed.message ? hashed : { ...hashed, message, hash: hashMessage(message) };
}

function maskPart(part: Part, secrets: SecretMask): Part {
  switch (part.type) {
    case 'text':
      return withText(part, secrets.text(part.text));
    case 'thinking': {
      const { opaque, ...thinking } = withText(part, secrets.text(part.text));
      // a signature of the original text is not valid for the masked one
      const isSame = thinking.text === part.text && (opaque === undefined || secrets.text(opaque) === opaque);
      return isSame ? part : thinking;
    }
    case 'tool_call': {
      const args = secrets.json(part.args);
      const argsText = part.argsText === undefined ? undefined : secrets.text(part.argsText);
      const { opaque, ...call } = part;
      if (opaque !== undefined && secrets.text(opaque) !== opaque)
        return { ...call, args, ...(argsText === undefined ? {} : { argsText }) };
      if (args === part.args && argsText === part.argsText) return part;
      return { ...part, args, ...(argsText === undefined ? {} : { argsText }) };
    }
    case 'tool_result': {
      const parts = maskParts<ContentPart>(part.parts, secrets);
      return parts === part.parts ? part : { ...part, parts: [...parts] };
    }
    case 'file':
      return maskFile(part, secrets);
    case 'artifact': {
      const head = secrets.text(part.head);
      return head === part.head ? part : { ...part, head };
    }
  }
}

function withText<Texted extends { readonly text: string }>(part: Texted, text: string): Texted {
  return text === part.text ? part : { ...part, text };
}

function maskFile(part: FilePart, secrets: SecretMask): FilePart {
  if (part.dataBase64 === undefined) return part;
  const bytes = Buffer.from(part.dataBase64, 'base64');
  const stream = secrets.bytes();
  const masked = [stream.push(bytes), stream.end()];
  if (masked[0] === bytes) return part;
  const whole = Buffer.concat(masked);
  return whole.equals(bytes) ? part : { ...part, dataBase64: whole.toString('base64') };
}
