// Publishes an answer and does nothing more: the process must end by itself, whatever the server does.
import { RedisStreamSink } from 'perdure/streams';

const sink = new RedisStreamSink({ url: process.argv[2] });
const event = { runId: 'run-1', turn: 1, attempt: 1, epoch: 1_000 };
sink.publish({ ...event, seq: 1, type: 'reset' });
sink.publish({ ...event, seq: 2, type: 'text', text: 'last words' });
await sink.flush('run-1');
