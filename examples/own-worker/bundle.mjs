// Builds the workflow bundle: node bundle.mjs. Needed once, and after a change of workflows.mjs or a new version of Perdure.
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { createPlugin } from './plugin.mjs';

const { code } = await bundleWorkflowCode({
  workflowsPath: fileURLToPath(new URL('workflows.mjs', import.meta.url)),
  plugins: [await createPlugin()],
  logger: new DefaultLogger('WARN'),
});
await writeFile('workflow-bundle.js', code);
console.log('wrote workflow-bundle.js');
