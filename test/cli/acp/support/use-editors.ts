import { PassThrough } from 'node:stream';
import { afterEach, inject } from 'vitest';
import { AgentClient } from '../../../../src/client/agent-client.js';
import type { SessionOptions } from '../../../../src/client/sessions/session-input.js';
import type { Config } from '../../../../src/define/define-config.js';
import type { AcpDoor } from '../../../../src/gateway/acp/door.js';
import { serveAcp } from '../../../../src/gateway/acp/serve-acp.js';
import { FileStreamSink } from '../../../../src/streams/file-stream-sink.js';
import { FileStreamSource } from '../../../../src/streams/file-stream-source.js';
import type { AgentWorkerOptions } from '../../../support/agent-worker.js';
import { useTempFolders } from '../../../support/temp-folder.js';
import { useWorkers } from '../../../support/use-workers.js';
import { AcpEditor, type EditorUser } from '../../support/acp-editor.js';

/** An agent that may ask. */
export const ASKING: Config = {
  model: 'fake/model',
  providers: { fake: { api: 'openai-chat', baseUrl: 'http://127.0.0.1:9' } },
  agents: { asker: { description: 'Asks.', prompt: 'ask', tools: ['ask_user'] } },
};

/** A worker, and editors in front of its queue. */
export interface EditorPlace {
  /** The client of the servers. */
  readonly client: AgentClient;
  /** Starts a server of its own, and an editor that uses it. */
  editor(user?: EditorUser): Promise<ServedEditor>;
}

/** An editor, and its server. */
export interface ServedEditor {
  readonly editor: AcpEditor;
  /** What the server printed. */
  readonly said: readonly string[];
  /** Ends the input of the server. Resolves when it has ended. */
  readonly end: () => Promise<void>;
}

/** Workers that publish tokens, with editors in front of them. Everything ends after each test. */
export function useEditors(): { place(options: AgentWorkerOptions, session?: SessionOptions): Promise<EditorPlace> } {
  // hooks run in reverse order: the workers write to the folders until they end
  const newFolder = useTempFolders('perdure-editor-');
  const workers = useWorkers();
  const ends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end();
  });
  return {
    async place(options, session = {}) {
      const folder = await newFolder();
      const { taskQueue } = await workers.worker({ streams: new FileStreamSink({ folder }), ...options });
      const streams = new FileStreamSource({ folder });
      const client = await AgentClient.connect({ address: inject('temporalAddress'), taskQueue, streams });
      ends.push(() => client.close());
      const door: AcpDoor = {
        version: '0',
        reach: () => Promise.resolve({ client, streams }),
        workspaceOf: (cwd) => Promise.resolve(cwd),
        sessionOptions: () => Promise.resolve(session),
        keepRunning: () => Promise.resolve(),
      };
      return {
        client,
        async editor(user) {
          const served = serve(door);
          ends.push(served.end);
          return { ...served, editor: await AcpEditor.over(served.input, served.output, user) };
        },
      };
    },
  };
}

/** A server over streams of this process. */
export interface Served extends Omit<ServedEditor, 'editor'> {
  readonly input: PassThrough;
  readonly output: PassThrough;
}

/** Starts a server. */
export function serve(door: AcpDoor): Served {
  const [input, output, said] = [new PassThrough(), new PassThrough(), [] as string[]];
  const ended = serveAcp({ door, stdin: input, stdout: output, signal: new AbortController().signal, say: (line) => said.push(line) });
  return {
    input,
    output,
    said,
    async end() {
      input.end();
      await ended;
    },
  };
}
