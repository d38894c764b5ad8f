import { writeFile } from 'node:fs/promises';
import { BUNDLE_FILE, BUNDLE_STAMP_FILE, bundleOwnWorkflows, installedSdkVersion } from './workflow-bundle.js';

// the last step of `npm run build`: the package carries its workflow bundle, stamped with the SDK it was made with
const { code } = await bundleOwnWorkflows();
await writeFile(BUNDLE_FILE, code);
await writeFile(BUNDLE_STAMP_FILE, JSON.stringify({ sdkVersion: installedSdkVersion() }));
