import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, inject } from 'vitest';
import { ChannelBridge, type ChannelBridgeOptions } from '../../../../src/channels/bridge/channel-bridge.js';
import { FileJournal } from '../../../../src/channels/journal/file-journal.js';
import { SlackChannel } from '../../../../src/channels/slack/slack-channel.js';
import { AgentClient } from '../../../../src/client/agent-client.js';
import { FileStreamSink } from '../../../../src/streams/file-stream-sink.js';
import { FileStreamSource } from '../../../../src/streams/file-stream-source.js';
import { type AgentWorker, type AgentWorkerOptions, startAgentWorker } from '../../../support/agent-worker.js';
import { BOT_TOKEN, SlackServer } from './slack-server.js';

/** One worker for a test file, whose model each test sets, and bridges between its sessions and a Slack server of the test. */
export function useBridges(options: Omit<AgentWorkerOptions, 'model' | 'streams'>) {
  let shared: Promise<Shared> | undefined;
  let model: AgentWorkerOptions['model'] | undefined;
  const ends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end();
    model = undefined;
  });
  afterAll(async () => {
    const opened = await shared;
    await opened?.client.close();
    await opened?.worker.stop();
    if (opened) await rm(opened.folder, { recursive: true, force: true });
  });
  const open = (): Promise<Shared> => (shared ??= openShared({ ...options, model: (...args) => modelOf(model)(...args) }));
  let journals = 0;
  return {
    /** The lines that bridges reported. */
    async slack(): Promise<SlackServer> {
      const server = await SlackServer.start();
      ends.push(() => server.stop());
      return server;
    },
    answers(given: AgentWorkerOptions['model']): void {
      model = given;
    },
    /** A place for a journal that no other test has. */
    async journal(): Promise<string> {
      journals += 1;
      return join((await open()).folder, `journal-${journals}.jsonl`);
    },
    async bridge(server: SlackServer, given: Partial<ChannelBridgeOptions> & { readonly path: string }): Promise<ChannelBridge> {
      const { path, ...more } = given;
      const { client } = await open();
      const channel = new SlackChannel({ token: () => BOT_TOKEN, apiUrl: server.url });
      const bridge = await ChannelBridge.open({ name: 'team', channel, client, journal: new FileJournal(path), ...more });
      ends.push(() => bridge.close());
      return bridge;
    },
    client: async (): Promise<AgentClient> => (await open()).client,
  };
}

interface Shared {
  readonly folder: string;
  readonly worker: AgentWorker;
  readonly client: AgentClient;
}

async function openShared(options: AgentWorkerOptions): Promise<Shared> {
  const folder = await mkdtemp(join(tmpdir(), 'perdure-channels-'));
  const worker = await startAgentWorker({ streams: new FileStreamSink({ folder }), ...options });
  const streams = new FileStreamSource({ folder });
  const client = await AgentClient.connect({ address: inject('temporalAddress'), taskQueue: worker.taskQueue, streams });
  return { folder, worker, client };
}

function modelOf(model: AgentWorkerOptions['model'] | undefined): AgentWorkerOptions['model'] {
  if (!model) throw new Error('the test sets no model');
  return model;
}
