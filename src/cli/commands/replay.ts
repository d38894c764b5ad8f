import { createReplayer, type Replayed } from '../../worker/replay-history.js';
import { resolveStateDir } from '../../worker/state-folder/state-folder.js';
import { lazyStore } from '../../worker/storage/blob-store.js';
import { payloadStoreOf } from '../../worker/storage/payload-store.js';
import { printJson, printText, say } from '../display/output.js';
import type { CliContext } from '../host/context.js';
import { loadConfigHere } from '../host/load-config.js';

/** `replay FILE…`: replays saved histories with the current workflow code. Exits with 1 if one of them differs. */
export async function replay(files: readonly string[], options: { readonly json?: boolean }, { output }: CliContext): Promise<number> {
  // few histories need it
  const blobs = lazyStore(async () => payloadStoreOf(await loadConfigHere(), resolveStateDir()).blobs);
  const replayFile = await createReplayer({ blobs, say: (line) => say(output, line) });
  const replayed: Replayed[] = [];
  for (const file of files) {
    const one = await replayFile(file);
    replayed.push(one);
    if (!options.json) printText(output, `${file}: ${one.problem ?? `replays (${one.events} events)`}`);
  }
  if (options.json) printJson(output, replayed);
  return replayed.some(({ problem }) => problem !== undefined) ? 1 : 0;
}
