import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { WorkflowBundleOption } from '@temporalio/worker';
import { bundleWorkflowCode } from '@temporalio/worker';

/** The files of the prebuilt bundle and of the SDK version that built it. */
export const BUNDLE_FILE = fileURLToPath(new URL('../workflow-bundle.js', import.meta.url));
export const BUNDLE_STAMP_FILE = fileURLToPath(new URL('../workflow-bundle.json', import.meta.url));

/** The installed version of the Temporal SDK. A bundle must be built by exactly this version. */
export function installedSdkVersion(): string {
  const manifest: unknown = createRequire(import.meta.url)('@temporalio/worker/package.json');
  // a package manifest always has a version
  return (manifest as { version: string }).version;
}

/** Bundles the workflows of this package. Takes 2-3 s. */
export function bundleOwnWorkflows(): Promise<{ code: string }> {
  return bundleWorkflowCode({
    workflowsPath: modulePath('../workflows/index'),
    payloadConverterPath: payloadConverterPath(),
    logger: SILENT,
  });
}

/** The module of the converter that workflow code uses for payloads. Bundles of other workflows need it too. */
export function payloadConverterPath(): string {
  return modulePath('../workflows/temporal/payload-converter');
}

/** The path of a module of this package: built, or in TypeScript. */
function modulePath(name: string): string {
  const paths = [`${name}.js`, `${name}.ts`].map((path) => fileURLToPath(new URL(path, import.meta.url)));
  const path = paths.find((candidate) => existsSync(candidate));
  if (path === undefined) throw new Error(`the package is incomplete: ${paths[0]} is missing`);
  return path;
}

/** Returns the prebuilt bundle if it matches the installed SDK. Otherwise builds one and prints a notice. */
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
