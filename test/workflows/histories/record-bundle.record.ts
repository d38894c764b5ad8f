import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { inject, it } from 'vitest';
import { CAPABILITY_LEVEL } from '../../../src/contracts/capability-level.js';

/** Version of the histories of this level. */
const VERSION = '0.5';

const MAP = '//# sourceMappingURL=data:';
/** The SDK reads a source map; an empty one is a third of the bundle's size less. */
const EMPTY_MAP = Buffer.from(JSON.stringify({ version: 3, sources: [], names: [], mappings: '' })).toString('base64');

it('record the workflow code of this level, for the test of a mixed fleet', async () => {
  const code = await readFile(inject('workflowBundlePath'), 'utf8');
  const bundle = `${code.slice(0, code.lastIndexOf(MAP))}${MAP}application/json;charset=utf-8;base64,${EMPTY_MAP}`;
  const path = fileURLToPath(new URL(`../releases/${VERSION}-level-${CAPABILITY_LEVEL}.bundle.js.gz`, import.meta.url));
  await writeFile(path, gzipSync(bundle, { level: 9 }));
});
