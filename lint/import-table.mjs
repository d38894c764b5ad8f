// Who may import whom, from the top floor down: a room imports only rooms below it. docs/architecture.md shows this table.

/**
 * @typedef {object} Room
 * @property {readonly string[]} rooms Folders of `src` that it may import.
 * @property {readonly string[]} [types] Folders of `src` of which it may import types alone.
 * @property {readonly string[]} packages Packages that it may import; `node:*` for what Node has, `NAME/*` for a package's files, `@SCOPE/*` for a scope.
 */

/** @type {Readonly<Record<string, Room>>} */
export const IMPORT_TABLE = {
  cli: {
    rooms: ['gateway', 'channels', 'client', 'worker', 'output', 'contracts', 'define', 'streams'],
    packages: ['node:*', 'commander', 'marked'],
  },
  gateway: {
    rooms: ['client', 'output', 'contracts'],
    types: ['streams'],
    packages: ['node:*', '@agentclientprotocol/sdk', '@modelcontextprotocol/sdk/*', 'fastify', 'zod'],
  },
  testing: {
    rooms: ['channels', 'client', 'worker', 'providers', 'artifacts', 'process', 'output', 'define', 'contracts'],
    packages: ['node:*', '@temporalio/*', 'zod'],
  },
  channels: { rooms: ['client', 'worker', 'contracts'], types: ['define', 'streams'], packages: ['node:*', 'zod'] },
  worker: {
    rooms: ['activities', 'models', 'providers', 'tools', 'artifacts', 'process', 'define', 'streams', 'contracts'],
    packages: ['node:*', '@temporalio/*', 'jiti', 'yaml', 'zod'],
  },
  activities: {
    rooms: ['models', 'providers', 'tools', 'artifacts', 'process', 'output', 'define', 'contracts'],
    types: ['streams'],
    packages: [
      'node:*',
      '@temporalio/activity',
      '@temporalio/common',
      '@cfworker/json-schema',
      '@modelcontextprotocol/sdk/*',
      'undici',
      'zod',
    ],
  },
  models: { rooms: ['providers', 'define', 'contracts'], packages: ['node:*', 'zod'] },
  tools: {
    rooms: ['artifacts', 'process', 'output', 'define', 'contracts'],
    packages: ['node:*', 'diff', 'html-to-text', 'minisearch', 'undici', 'zod'],
  },
  providers: {
    rooms: ['process', 'define', 'contracts'],
    packages: ['node:*', '@ai-sdk/provider', '@anthropic-ai/*', 'jsonrepair', 'openai', 'undici', 'yaml', 'zod'],
  },
  client: {
    rooms: ['contracts'],
    types: ['artifacts', 'streams'],
    packages: ['node:*', '@temporalio/client', '@temporalio/common', 'zod'],
  },
  artifacts: { rooms: ['output', 'define', 'contracts'], packages: ['node:*', '@aws-sdk/client-s3'] },
  process: { rooms: ['define', 'contracts'], packages: ['node:*'] },
  workflows: { rooms: ['contracts'], packages: ['@temporalio/workflow', '@temporalio/common'] },
  streams: { rooms: ['contracts'], packages: ['node:*', 'redis'] },
  output: { rooms: ['contracts'], packages: ['node:*'] },
  define: { rooms: ['contracts'], packages: ['@cfworker/json-schema', 'yaml', 'zod'] },
  contracts: { rooms: [], packages: ['zod', '@noble/hashes/*'] },
};

/** Narrower than the table: folders of which a room may import types alone, and files that may import more. */
export const TYPES_ONLY = { workflows: ['contracts/schemas'] };
export const ALSO = {
  'contracts/handlers.ts': ['@temporalio/workflow'],
  // the page bundles both: nothing else reads Markdown or compares texts there
  'gateway/page/browser/content/markdown.ts': ['marked'],
  'output/compare-lines.ts': ['diff'],
};
