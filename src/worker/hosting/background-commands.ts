import { BackgroundCommands } from '../../tools/commands/background-commands.js';
import { builtModule } from '../dev-server/launch.js';
import { stateFolder } from '../state-folder/state-folder.js';

const byFolder = new Map<string, BackgroundCommands>();

/** The background commands of a state folder. All workers of this process share them, so that limits hold. Opens nothing. */
export function backgroundCommands(stateDir: string): BackgroundCommands {
  const { dir, commands: folder } = stateFolder(stateDir);
  const known = byFolder.get(dir);
  if (known) return known;
  const program = builtModule(import.meta.url, '../../tools/commands/holder');
  const commands = new BackgroundCommands({ stateDir: dir, folder, program });
  byFolder.set(dir, commands);
  return commands;
}
