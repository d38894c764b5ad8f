import { appendFileSync, existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { createChat, echo, task } from './chat.mjs';

/** The activities of the two peers on Temporal. */
export function createPeerActivities(model) {
  const chat = createChat(model);
  const conversations = new Map();
  return {
    /** Bare: the transcript is in this process only, so nothing but the new message crosses Temporal, and a crash loses it. */
    async askBare(name, turns, tool) {
      const messages = conversations.get(name) ?? [task(turns, name, tool)];
      conversations.set(name, messages);
      const answer = await chat(messages);
      messages.push(answer);
      return answer;
    },
    async callBare(name, call) {
      if (call.function.name === 'wait') await released();
      const result = echo(call);
      conversations.get(name).push(result);
      return result;
    },
    /** All messages, each turn: what an agent loop on Temporal usually does. */
    askWithAll: (messages) => chat(messages),
    callTool: async (call) => echo(call),
  };
}

/** The tool that waits until it is released, as in the config of the agents. */
async function released() {
  appendFileSync(process.env.BENCH_MARKS, `${JSON.stringify({ what: 'waiting', at: Date.now() })}\n`);
  while (!existsSync(process.env.BENCH_RELEASE)) await pause(100);
}
