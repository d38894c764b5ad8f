// The clients of scenario `gateway`, in a process of their own: each follows one run, and notes when the first token of its last turn came.
// Arguments: the address of the events, the token, how many clients, the turn.
import { request } from 'node:http';

const [url, token, count, turn] = process.argv.slice(2);
const first = [];
let connected = 0;
let ended = 0;

for (let at = 0; at < Number(count); at += 1) {
  const asked = request(url, { headers: { authorization: `Bearer ${token}` }, agent: false }, (response) => {
    connected += 1;
    if (connected === Number(count)) process.send({ connected });
    let isSeen = false;
    response.on('data', (chunk) => {
      if (isSeen || !chunk.includes(`"turn":${turn},`) || !chunk.includes('event: text.delta')) return;
      isSeen = true;
      first.push(Date.now());
    });
    response.once('close', () => {
      ended += 1;
      if (ended === Number(count)) process.send({ first }, () => process.exit());
    });
  });
  asked.once('error', (error) => {
    console.error(error.message);
    process.exit(1);
  });
  asked.end();
}
