// Serves the runs of this folder's server on port 3000: node start.mjs. Start the server and its worker first: perdure dev --port 7233
import { AgentClient } from 'perdure/client';
import { FileStreamSource } from 'perdure/streams';
import { createService } from './service.mjs';

const address = process.env['TEMPORAL_ADDRESS'] ?? '127.0.0.1:7233';
const client = await AgentClient.connect({ address, streams: new FileStreamSource({ folder: '.perdure/streams' }) });
const app = createService(client);
const url = await app.listen({ host: '127.0.0.1', port: Number(process.env['PORT'] ?? 3000) });
console.log(`listening at ${url}`);

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    // runs go on: they are in Temporal, not here
    await app.close();
    await client.close();
  });
}
