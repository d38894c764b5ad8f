import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A file as browsers get it. */
export interface PageFile {
  readonly bytes: Buffer;
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The page of the gateway: one document for all its addresses, and the files that it loads, by their names. */
export interface PageFiles {
  readonly shell: PageFile;
  readonly assets: ReadonlyMap<string, PageFile>;
}

/** `npm run build` writes the files beside this module. Tests of the sources take those of the build. */
const BUILT = ['./built/', '../../../dist/gateway/page/built/'].map((path) => fileURLToPath(new URL(path, import.meta.url)));

/**
 * What the page may do: load its own script, style and icon, and send requests to its own gateway. Model text, tool outputs and names are
 * hostile: no script in them runs, nothing of another host is loaded, and no text becomes markup (`trusted-types 'none'`).
 */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

let reading: Promise<PageFiles> | undefined;

/** The files of the page, which are read once. Throws if the package was not built. */
export function readPageFiles(): Promise<PageFiles> {
  reading ??= read();
  return reading;
}

async function read(): Promise<PageFiles> {
  const folder = BUILT.find((path) => existsSync(path));
  if (folder === undefined) throw new Error("the page was not built; run 'npm run build'");
  const script = assetOf('page.js', await readFile(`${folder}page.js`));
  const style = assetOf('page.css', await readFile(`${folder}page.css`));
  const icon = assetOf('icon.svg', Buffer.from(ICON));
  return {
    shell: {
      bytes: Buffer.from(shellOf({ script: script.name, style: style.name, icon: icon.name })),
      contentType: 'text/html; charset=utf-8',
      headers: { 'content-security-policy': PAGE_POLICY, 'cross-origin-opener-policy': 'same-origin' },
    },
    assets: new Map([script, style, icon].map(({ name, file }) => [name, file])),
  };
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** The name of a file has a hash of its content, so that browsers may keep it. */
function assetOf(path: string, bytes: Buffer): { readonly name: string; readonly file: PageFile } {
  const extension = extname(path);
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 12);
  return {
    name: `${path.slice(0, -extension.length)}-${hash}${extension}`,
    file: {
      bytes,
      contentType: TYPES[extension] ?? 'application/octet-stream',
      headers: { 'cache-control': 'public, max-age=31536000, immutable' },
    },
  };
}

/** The document. It holds no data: the script asks for a token, and requests the data with it. */
function shellOf({ script, style, icon }: { readonly script: string; readonly style: string; readonly icon: string }): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Perdure</title>
    <link rel="icon" href="/assets/${icon}">
    <link rel="stylesheet" href="/assets/${style}">
    <script type="module" src="/assets/${script}"></script>
  </head>
  <body>
    <noscript>This page needs JavaScript. The command <code>perdure ls</code> shows the same runs.</noscript>
  </body>
</html>
`;
}

/** A closed ring: the sign of a run that lasts. */
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#1f4fd8"/><circle cx="16" cy="16" r="8" fill="none" stroke="#fff" stroke-width="4" stroke-dasharray="38 13" stroke-linecap="round"/></svg>
`;
