import { task } from '../peers/chat.mjs';
import { measurePeer } from '../peers/peer-worker.mjs';

/** (3): a loop on Temporal that gives all messages to an activity each turn. */
export function allMessages(arena, turns) {
  return measurePeer(arena, { workflow: 'allMessages', args: [[task(turns, 'all-messages')]], turns });
}
