import { createChat, echo, task } from './chat.mjs';

/** The activities of the two peers on Temporal. */
export function createPeerActivities(model) {
  const chat = createChat(model);
  const conversations = new Map();
  return {
    /** Bare: the transcript is in this process only, so nothing but the new message crosses Temporal, and a crash loses it. */
    async askBare(name, turns) {
      const messages = conversations.get(name) ?? [task(turns, name)];
      conversations.set(name, messages);
      const answer = await chat(messages);
      messages.push(answer);
      return answer;
    },
    async callBare(name, call) {
      const result = echo(call);
      conversations.get(name).push(result);
      return result;
    },
    /** All messages, each turn: what an agent loop on Temporal usually does. */
    askWithAll: (messages) => chat(messages),
    callTool: async (call) => echo(call),
  };
}
