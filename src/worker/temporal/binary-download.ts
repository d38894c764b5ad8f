import { createWriteStream } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { renameDurably } from '../../artifacts/durable-file.js';
import { runCommand } from './run-command.js';

/** Options of a download or build of the Temporal CLI. */
export interface InstallOptions {
  readonly version: string;
  readonly say: (line: string) => void;
  readonly env: NodeJS.ProcessEnv;
}

/** The answer of the service: the archive, and the file inside it. */
const DownloadInfo = z.object({ archiveUrl: z.url({ protocol: /^https$/u }), fileToExtract: z.string().regex(/^[\w.-]+$/u) });

/** The download service of Temporal's SDKs. The downloader of the SDK cannot be used, because it also starts a server. */
const SERVICE = 'https://temporal.download/cli';
/** The longest wait when there is no network. */
const ASK_TIMEOUT_MS = 5_000;
const DOWNLOAD_TIMEOUT_MS = 5 * 60_000;
const PLATFORMS: Partial<Record<NodeJS.Platform, string>> = { linux: 'linux', darwin: 'darwin' };
const ARCHITECTURES: Partial<Record<NodeJS.Architecture, string>> = { x64: 'amd64', arm64: 'arm64' };

/** Downloads the Temporal CLI and moves it to `target` in one step. Rejects within 5 s if the service cannot be reached. */
export async function downloadTemporal(target: string, { version, say, env }: InstallOptions): Promise<void> {
  const platform = PLATFORMS[process.platform];
  const arch = ARCHITECTURES[process.arch];
  if (!platform || !arch) throw new Error(`no download for ${process.platform} ${process.arch}`);
  say(`downloading the Temporal server ${version} (once)`);
  const query = new URLSearchParams({ platform, arch, format: 'tar.gz' }).toString();
  const { archiveUrl, fileToExtract } = await askService(`${SERVICE}/v${version}?${query}`);
  const folder = await mkdtemp(join(dirname(target), '.download-'));
  try {
    const archive = join(folder, 'archive.tar.gz');
    const response = await fetch(archiveUrl, { signal: AbortSignal.timeout(DOWNLOAD_TIMEOUT_MS) });
    if (!response.ok || !response.body) throw new Error(`HTTP ${response.status} for ${archiveUrl}`);
    await pipeline(Readable.fromWeb(response.body), createWriteStream(archive));
    await runCommand('tar', ['-xzf', archive, '-C', folder, fileToExtract], { env, cwd: folder });
    const extracted = join(folder, fileToExtract);
    await chmod(extracted, 0o755);
    // checks the binary before it enters the cache
    await runCommand(extracted, ['--version'], { env, cwd: folder });
    await renameDurably(extracted, target);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function askService(url: string): Promise<z.infer<typeof DownloadInfo>> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(ASK_TIMEOUT_MS) });
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    return DownloadInfo.parse(await response.json());
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new Error(`${SERVICE} cannot be reached (${cause instanceof Error ? cause.message : String(cause)})`, { cause: error });
  }
}
