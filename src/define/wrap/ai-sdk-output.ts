import type { ContentPart } from '../../contracts/schemas/message.js';
import { addressContent, fieldsOf, fileContent, omittedContent, textContent, textOfValue } from './foreign-content.js';

/**
 * What `toModelOutput` of a tool of the AI SDK gave, as a tool's return value. Throws for the types `error-text`, `error-json` and
 * `execution-denied`, so that the call fails with that text. A type that is not known becomes JSON.
 */
export function aiSdkOutput(given: unknown): string | object {
  const { type, value, reason } = fieldsOf(given);
  switch (type) {
    case 'text':
    case 'json':
      return textOrObject(value);
    case 'error-text':
    case 'error-json':
      throw new Error(textOfValue(value));
    case 'execution-denied':
      throw new Error(typeof reason === 'string' ? reason : 'the tool denied the call');
    case 'content':
      return Array.isArray(value) ? value.map(contentPart) : '';
    default:
      return textOrObject(given);
  }
}

/** Numbers, booleans and null are the same as text for the model. */
function textOrObject(value: unknown): string | object {
  return typeof value === 'object' && value !== null ? value : textOfValue(value);
}

/** One part of a content. Files that only an address or a provider's id names are named to the model. */
function contentPart(given: unknown): ContentPart {
  const { type, text, data, mediaType, url } = fieldsOf(given);
  if (type === 'text' && typeof text === 'string') return textContent(text);
  if (typeof url === 'string') return addressContent(url);
  return typeof mediaType === 'string' ? (fileOf(mediaType, data) ?? omittedContent(type)) : omittedContent(type);
}

/** Version 7 wraps the bytes or the address of a file in an object with a `type`. */
function fileOf(mediaType: string, given: unknown): ContentPart | undefined {
  if (typeof given === 'string' || given instanceof Uint8Array) return fileContent(mediaType, given);
  const { data, url, text } = fieldsOf(given);
  if (typeof data === 'string' || data instanceof Uint8Array) return fileContent(mediaType, data);
  if (typeof text === 'string') return textContent(text);
  return typeof url === 'string' || url instanceof URL ? addressContent(String(url)) : undefined;
}
