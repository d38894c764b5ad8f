import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import type { HtmlToTextOptions } from 'html-to-text';
import { FETCH_LIMITS } from '../../contracts/constants/limits.js';

/**
 * The program of the thread: returns the text of the page. It is a string, because the file name of a module differs between built, bundled
 * and tested code.
 */
const PROGRAM = `
const { parentPort, workerData } = require('node:worker_threads');
const { convert } = require(workerData.library);
parentPort.postMessage(convert(workerData.html, workerData.options));
`;

/**
 * The text of a page with headings, lists, tables and links, without navigation, scripts and forms. A thread converts it, which is ended
 * after a time: a page that is nested 100,000 times takes minutes. Throws an Error for the model, or the reason of the signal.
 */
export async function htmlText(html: string, { url, signal }: { readonly url: URL; readonly signal: AbortSignal }): Promise<string> {
  signal.throwIfAborted();
  const title = /<title[^>]{0,200}>(?<title>[^<]{1,300})/iu.exec(html.slice(0, HEAD_CHARS))?.groups?.title?.trim();
  const text = await convert(html, optionsFor(url), signal);
  return title === undefined || title === '' ? text.trim() : `${title}\n\n${text.trim()}`;
}

/** The part of a page that is searched for its title. */
const HEAD_CHARS = 64 * 1_024;

async function convert(html: string, options: HtmlToTextOptions, signal: AbortSignal): Promise<string> {
  const thread = new Worker(PROGRAM, {
    eval: true,
    env: {},
    workerData: { library: library(), html, options },
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  });
  const ended = new AbortController();
  try {
    return await new Promise<string>((resolve, reject) => {
      const limit = setTimeout(() => reject(unreadable(`took more than ${FETCH_LIMITS.convertMs / 1_000} s`)), FETCH_LIMITS.convertMs);
      ended.signal.addEventListener('abort', () => clearTimeout(limit));
      signal.addEventListener('abort', () => reject(signal.reason), { once: true, signal: ended.signal });
      thread.once('message', resolve);
      thread.once('error', (cause) => reject(unreadable(`failed (${cause.message})`)));
    });
  } finally {
    ended.abort();
    await thread.terminate();
  }
}

/** The path of an optional peer dependency. */
function library(): string {
  try {
    return createRequire(import.meta.url).resolve('html-to-text');
  } catch (cause) {
    const message =
      "HTML_PACKAGE: this worker needs the package 'html-to-text' to read web pages; install it with: npm install html-to-text";
    throw new Error(message, { cause });
  }
}

function unreadable(why: string): Error {
  return new Error(`UNREADABLE: reading the text of this page ${why}`);
}

function optionsFor(url: URL): HtmlToTextOptions {
  return {
    wordwrap: false,
    baseElements: { selectors: ['main', '[role="main"]'], returnDomByDefault: true },
    limits: { maxInputLength: FETCH_LIMITS.pageBytesMax, maxDepth: FETCH_LIMITS.depthMax, maxChildNodes: FETCH_LIMITS.childrenMax },
    selectors: [
      ...SKIPPED.map((selector) => ({ selector, format: 'skip' })),
      { selector: 'a', options: { baseUrl: url.origin, hideLinkHrefIfSameAsText: true, noAnchorUrl: true } },
      ...HEADINGS.map((selector) => ({ selector, options: { uppercase: false } })),
      { selector: 'table', format: 'dataTable', options: { uppercaseHeaderCells: false, maxColumnWidth: 60 } },
    ],
  };
}

const SKIPPED = ['script', 'style', 'noscript', 'template', 'nav', 'header', 'footer', 'aside', 'svg', 'form', 'iframe', 'button', 'img'];
const HEADINGS = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'];
