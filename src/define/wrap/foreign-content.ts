import type { ContentPart } from '../../contracts/schemas/message.js';

/** A text for the model. */
export function textContent(text: string): ContentPart {
  return { type: 'text', text };
}

/** A file whose bytes are given, in base64 or as they are. */
export function fileContent(mime: string, data: string | Uint8Array): ContentPart {
  return { type: 'file', mime, dataBase64: typeof data === 'string' ? data : Buffer.from(data).toString('base64') };
}

/** A file at an address: the bytes of a `data:` address, or the address as a text, because nothing is fetched. */
export function addressContent(address: string): ContentPart {
  const { mime, data } = DATA_ADDRESS.exec(address)?.groups ?? {};
  return mime === undefined || data === undefined ? textContent(`[file: ${address}]`) : fileContent(mime, data);
}

const DATA_ADDRESS = /^data:(?<mime>[^;,]+);base64,(?<data>.*)$/su;

/** The text that stands for a part which has no equivalent. */
export function omittedContent(type: unknown): ContentPart {
  return textContent(`[unsupported content: ${String(type).slice(0, 80)}]`);
}

/** The fields of an object of another framework, which may be anything. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** A text as it is, any other value as JSON. */
export function textOfValue(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** A function of an object of another framework. Undefined for anything else. */
export function functionOf(value: unknown): ((...args: readonly unknown[]) => unknown) | undefined {
  return typeof value === 'function' ? (value as (...args: readonly unknown[]) => unknown) : undefined;
}
