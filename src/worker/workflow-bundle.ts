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
    workflowsPath: workflowFile('index'),
    payloadConverterPath: payloadConverterPath(),
    preloadModules: preloadedModules(),
    logger: SILENT,
  });
}

/** The module of the converter that workflow code uses for payloads. Bundles of other workflows need it too. */
export function payloadConverterPath(): string {
  return workflowFile('temporal/payload-converter');
}

/**
 * The modules that a sandbox loads once for all its runs, instead of once for each: the workflows of this package, which keep no state in
 * modules, and before them the one that makes promises cheap.
 *
 * @param promiseStacks true leaves that one out
 */
export function preloadedModules(promiseStacks = false): string[] {
  return [...(promiseStacks ? [] : [workflowFile('temporal/skip-promise-stacks')]), workflowFile('index')];
}

/**
 * True when workflow code captures a stack for each promise, for query `__stack_trace` (environment `PERDURE_WORKFLOW_STACKS=1`). A turn
 * takes up to twice the CPU time then.
 */
export function keepsPromiseStacks(): boolean {
  return process.env.PERDURE_WORKFLOW_STACKS === '1';
}

/** Returns the prebuilt bundle if it matches the installed SDK. Otherwise builds one and prints a notice. */
export async function workflowBundle(say: (line: string) => void): Promise<WorkflowBundleOption> {
  const bundle = isPrebuilt(await readStamp()) ? { codePath: BUNDLE_FILE } : await buildBundle(say);
  if (!keepsPromiseStacks()) return bundle;
  const code = 'code' in bundle ? bundle.code : await readFile(bundle.codePath, 'utf8');
  // on the first line, so that the lines of the source map stay
  return { code: `globalThis.__PERDURE_WORKFLOW_STACKS__ = true; ${code}` };
}

let built: Promise<{ code: string }> | undefined;

/** Builds the bundle once for all workers of the process. A failure is not kept. */
function buildBundle(say: (line: string) => void): Promise<{ code: string }> {
  if (built) return built;
  if (existsSync(BUNDLE_STAMP_FILE)) say(`building the workflow bundle for Temporal SDK ${installedSdkVersion()} …`);
  built = bundleOwnWorkflows();
  built.catch(() => {
    built = undefined;
  });
  return built;
}

/** The stamp of the prebuilt bundle; undefined without one. */
async function readStamp(): Promise<unknown> {
  if (!existsSync(BUNDLE_FILE) || !existsSync(BUNDLE_STAMP_FILE)) return undefined;
  return JSON.parse(await readFile(BUNDLE_STAMP_FILE, 'utf8'));
}

function isPrebuilt(stamp: unknown): boolean {
  return stamp !== null && typeof stamp === 'object' && 'sdkVersion' in stamp && stamp.sdkVersion === installedSdkVersion();
}

/** The path of a workflow module: built, or its source. */
function workflowFile(name: string): string {
  const paths = [`../workflows/${name}.js`, `../workflows/${name}.ts`].map((path) => fileURLToPath(new URL(path, import.meta.url)));
  const found = paths.find((path) => existsSync(path));
  if (!found) throw new Error(`the package is incomplete: ${paths[0]} is missing`);
  return found;
}

const ignore = (): void => undefined;
const SILENT = { log: ignore, trace: ignore, debug: ignore, info: ignore, warn: ignore, error: ignore };
