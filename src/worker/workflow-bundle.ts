import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { WorkflowBundleOption } from '@temporalio/worker';
import { bundleWorkflowCode } from '@temporalio/worker';

/** Where the build leaves the bundle and the SDK version it was made with. */
export const BUNDLE_FILE = fileURLToPath(new URL('../workflow-bundle.js', import.meta.url));
export const BUNDLE_STAMP_FILE = fileURLToPath(new URL('../workflow-bundle.json', import.meta.url));

/** The version of the Temporal SDK that is installed: a bundle must come from exactly this one. */
export function installedSdkVersion(): string {
  const manifest: unknown = createRequire(import.meta.url)('@temporalio/worker/package.json');
  // a package manifest always has its version
  return (manifest as { version: string }).version;
}

/** Bundles this package's own workflows. Takes two to three seconds. */
export function bundleOwnWorkflows(): Promise<{ code: string }> {
  const source = ['../workflows/index.js', '../workflows/index.ts'].map((path) => fileURLToPath(new URL(path, import.meta.url)));
  const workflowsPath = source.find((path) => existsSync(path));
  if (!workflowsPath) throw new Error(`the package is incomplete: ${source[0]} is missing`);
  return bundleWorkflowCode({ workflowsPath, logger: SILENT });
}

/** The prebuilt bundle when it fits the installed SDK, else one made now (said through `say`). */
export async function workflowBundle(say: (line: string) => void): Promise<WorkflowBundleOption> {
  if (existsSync(BUNDLE_FILE) && existsSync(BUNDLE_STAMP_FILE)) {
    const stamp: unknown = JSON.parse(await readFile(BUNDLE_STAMP_FILE, 'utf8'));
    if (stamp !== null && typeof stamp === 'object' && 'sdkVersion' in stamp && stamp.sdkVersion === installedSdkVersion()) {
      return { codePath: BUNDLE_FILE };
    }
    say(`building the workflow bundle for Temporal SDK ${installedSdkVersion()} …`);
  }
  return bundleOwnWorkflows();
}

const ignore = (): void => undefined;
const SILENT = { log: ignore, trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };
