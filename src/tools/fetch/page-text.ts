import { looksBinary } from '../workspace/read-lines.js';
import { htmlText } from './html-text.js';
import type { Page } from './request-page.js';

/** The readable text of a page. Throws an Error for the model if it has none: an image, an archive. */
export async function pageText({ url, contentType, charset, bytes }: Page, signal: AbortSignal): Promise<string> {
  const isText = contentType === '' || TEXT_TYPES.test(contentType);
  if (!isText || looksBinary(bytes)) {
    throw new Error(`NOT_TEXT: ${url.host} sent ${contentType === '' ? 'a binary file' : contentType} of ${bytes.length} bytes`);
  }
  const text = decode(bytes, charset);
  return HTML_TYPES.has(contentType) ? await htmlText(text, { url, signal }) : text;
}

const TEXT_TYPES = /^text\/|^application\/(?:json|xml|javascript|yaml|toml|[\w.+-]+\+(?:json|xml))$/u;
const HTML_TYPES: ReadonlySet<string> = new Set(['text/html', 'application/xhtml+xml']);

function decode(bytes: Buffer, charset: string): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    // a label that no decoder has
    return new TextDecoder().decode(bytes);
  }
}
