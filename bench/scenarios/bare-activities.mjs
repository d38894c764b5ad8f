import { measurePeer } from '../peers/peer-worker.mjs';

/** (2): two bare activities a turn, without our loop. */
export function bareActivities(arena, turns) {
  return measurePeer(arena, { workflow: 'bareActivities', args: [`bare-${turns}`, turns], turns });
}
