import { fileURLToPath } from 'node:url';

export default {
  // notes of earlier releases, in the folder memory of the workspace
  memory: { scope: 'workspace' },
  mcpServers: {
    releases: { command: process.execPath, args: [fileURLToPath(new URL('releases-server.mjs', import.meta.url))] },
  },
};
