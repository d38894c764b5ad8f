import { announcePresence, livePresences } from './state-folder/presence.js';
import { stateFolder } from './state-folder/state-folder.js';

/** A process that needs the folder's server, until it says otherwise or dies. */
export interface User {
  leave(): Promise<void>;
}

/** Registers this process as a user of the folder's server; the keeper stops a server without living users. */
export async function registerUser(stateDir: string): Promise<User> {
  const presence = await announcePresence(stateFolder(stateDir).users);
  return { leave: () => presence.remove() };
}

/** How many living users the folder's server has. Files of dead ones are unlinked on the way. */
export async function countLiveUsers(stateDir: string): Promise<number> {
  return (await livePresences(stateFolder(stateDir).users)).length;
}
