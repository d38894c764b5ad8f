// Serves the page, and passes its requests on to the gateway. The token stays here: no browser has it.
import { createServer, request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const { PERDURE_TOKEN = '', PORT = '8080' } = process.env;
const gateway = new URL(process.env.PERDURE_GATEWAY ?? 'http://127.0.0.1:8787');

const { outputFiles } = await build({
  entryPoints: [fileURLToPath(new URL('main.tsx', import.meta.url))],
  bundle: true,
  write: false,
  format: 'esm',
  jsx: 'automatic',
  minify: true,
  define: { 'process.env.NODE_ENV': '"production"' },
});
const HTML = '<!doctype html><title>Chat</title><div id="root"></div><script type="module" src="/page.js"></script>';

/** Passes a request on. A connection that is lost on one side is lost on the other: the page sees it, and resumes. */
function pass(incoming, response) {
  const { method, url: path, headers } = incoming;
  const { hostname, port } = gateway;
  const asked = request({ hostname, port, method, path, headers: { ...headers, authorization: `Bearer ${PERDURE_TOKEN}` } }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.on('data', (chunk) => response.write(chunk));
    answer.on('end', () => response.end());
    answer.on('error', () => response.destroy());
  });
  asked.on('error', () => response.destroy());
  response.on('close', () => asked.destroy());
  incoming.pipe(asked);
}

const server = createServer((incoming, response) => {
  const path = new URL(incoming.url ?? '/', gateway).pathname;
  if (path.startsWith('/v1/')) pass(incoming, response);
  else if (path === '/page.js') response.setHeader('content-type', 'text/javascript').end(outputFiles[0]?.contents);
  else response.setHeader('content-type', 'text/html').end(HTML);
});
server.listen(Number(PORT), '127.0.0.1', () => console.log(`page at http://127.0.0.1:${server.address()?.port}`));
