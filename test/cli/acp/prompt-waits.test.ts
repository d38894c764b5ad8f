import { describe, expect, it } from 'vitest';
import type { AgentClient } from '../../../src/client/agent-client.js';
import type { SessionHandle } from '../../../src/client/session-handle.js';
import type { SessionState } from '../../../src/contracts/schemas/session.js';
import { EditorSession } from '../../../src/gateway/acp/editor-session.js';

/** A session that drops a message after some queries, and what happened to it, with the times of its queries. */
class WaitingSession {
  readonly done: string[] = [];
  readonly queriedAt: number[] = [];
  /** Called with the number of each query. */
  onQuery: (count: number) => void = () => undefined;
  readonly key = 'k';
  #id = '';
  #isWithdrawn = false;
  readonly #queuedQueries: number;

  constructor({ queuedQueries }: { readonly queuedQueries: number }) {
    this.#queuedQueries = queuedQueries;
  }

  async send({ id = '' }: { readonly id?: string }): Promise<object> {
    this.#id = id;
    this.done.push('sent');
    return await Promise.resolve({ id, accepted: true });
  }

  async unsend(): Promise<object> {
    this.#isWithdrawn = true;
    this.done.push('withdrawn');
    return await Promise.resolve({});
  }

  async query(): Promise<SessionState> {
    this.queriedAt.push(performance.now());
    this.onQuery(this.queriedAt.length);
    const isQueued = !this.#isWithdrawn && this.queriedAt.length <= this.#queuedQueries;
    const queued = isQueued ? [{ id: this.#id }] : [];
    const dropped = isQueued ? [] : [{ id: this.#id, reason: 'withdrawn' }];
    // what the state has besides, an editor does not read
    return await Promise.resolve({ runs: [], queued, dropped } as unknown as SessionState);
  }
}

/** An editor's session in front of it. */
function editorOf(session: WaitingSession, keepRunning: () => Promise<void>): { readonly editor: EditorSession; readonly said: string[] } {
  const said: string[] = [];
  const editor = new EditorSession({
    // the parts of a client and an editor that a prompt without a run uses
    reach: () =>
      Promise.resolve({ client: { session: () => session as unknown as SessionHandle } as unknown as AgentClient, streams: [] as never }),
    key: session.key,
    sessionOptions: () => Promise.resolve({}),
    editor: {} as never,
    workspace: '/',
    keepRunning,
    ending: new AbortController().signal,
    say: (line) => said.push(line),
  });
  return { editor, said };
}

const HELLO = [{ type: 'text' as const, text: 'hello' }];
const NEVER = new AbortController().signal;

describe('a prompt that waits for its run', () => {
  it('A-34: is sent once something keeps its run alive, and not before', async () => {
    const session = new WaitingSession({ queuedQueries: 1 });
    const { editor, said } = editorOf(session, async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      session.done.push('kept');
    });
    await expect(editor.prompt(HELLO, NEVER)).rejects.toThrow('dropped: withdrawn');
    expect([session.done.slice(0, 2), said]).toEqual([['kept', 'sent'], []]);
  });

  it('is sent also if nothing can keep its run alive, and that is reported', async () => {
    const session = new WaitingSession({ queuedQueries: 1 });
    const { editor, said } = editorOf(session, () => Promise.reject(new Error('no disk')));
    await expect(editor.prompt(HELLO, NEVER)).rejects.toThrow('dropped: withdrawn');
    expect([session.done, said[0]]).toEqual([['sent'], 'the run stops with this process: no disk']);
  });

  it('asks the session less and less often', async () => {
    const session = new WaitingSession({ queuedQueries: 8 });
    await expect(editorOf(session, () => Promise.resolve()).editor.prompt(HELLO, NEVER)).rejects.toThrow('dropped');
    const gaps = session.queriedAt.slice(1).map((at, index) => at - (session.queriedAt[index] ?? at));
    expect(gaps).toHaveLength(8);
    expect(gaps.at(-1)).toBeGreaterThan(900);
  });

  it('C1: is withdrawn at once when it is cancelled during a long pause', async () => {
    const session = new WaitingSession({ queuedQueries: 9 });
    const cancel = new AbortController();
    let cancelledAt = Number.POSITIVE_INFINITY;
    session.onQuery = (count) => {
      // the pause after this query is the longest one
      if (count === 7)
        setTimeout(() => {
          cancelledAt = performance.now();
          cancel.abort();
        }, 5);
    };
    expect(await editorOf(session, () => Promise.resolve()).editor.prompt(HELLO, cancel.signal)).toBe('cancelled');
    expect(session.done).toEqual(['sent', 'withdrawn']);
    // the query that found the message still queued, and the one after the withdrawal
    expect(session.queriedAt.filter((at) => at > cancelledAt)).toHaveLength(2);
  });
});
