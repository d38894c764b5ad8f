import { hostname } from 'node:os';
import type { CheckedStart, StartInput } from '../../client/runs/start-run.js';
import { HOST, hostQueueOf } from '../../contracts/constants/host-queue.js';
import type { Place } from './workplace.js';

/**
 * The input of a start, with the name of this host if its workspace is here and a worker of this host may prepare the run. Without the
 * name the workers of a shared queue would be asked one after the other. The embedded server has one worker, which is here.
 */
export async function nameHost({ location, client }: Place, { id, input }: CheckedStart): Promise<StartInput> {
  const host = hostname();
  const isHere = input.context?.workspace !== undefined && location.kind === 'configured' && HOST.test(host);
  if (!isHere || !(await client.hasPoller(hostQueueOf(host)))) return { ...input, id };
  return { ...input, id, context: { ...input.context, host } };
}
