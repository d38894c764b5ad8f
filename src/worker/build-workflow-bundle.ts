import { writeFile } from 'node:fs/promises';
import { BUNDLE_FILE, BUNDLE_STAMP_FILE, bundleOwnWorkflows, installedSdkVersion } from './workflow-bundle.js';

// the last step of `npm run build`: writes the prebuilt workflow bundle and the SDK version that built it
const { code } = await bundleOwnWorkflows();
await writeFile(BUNDLE_FILE, code);
await writeFile(BUNDLE_STAMP_FILE, JSON.stringify({ sdkVersion: installedSdkVersion() }));
