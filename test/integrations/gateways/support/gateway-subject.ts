import type { ScriptedSubject } from '../../../providers/suite/provider-subject.js';
import { wireProvider } from '../../../providers/suite/wire-fixture.js';
import { type DoorOptions, startFaultyDoor } from './faulty-door.js';

/** A model of a gateway, and the address below which the gateway speaks its format. */
export interface GatewaySubjectOptions extends DoorOptions {
  readonly model: string;
  readonly cutStep: number;
}

/** A provider that asks a gateway through a faulty door. */
export async function startGatewaySubject({ model, cutStep, ...door }: GatewaySubjectOptions): Promise<ScriptedSubject> {
  const server = await startFaultyDoor(door);
  const provider = (apiKey = server.apiKey) => wireProvider({ api: door.format, url: server.url, apiKey });
  return { model, server, gateway: true, cutStep, provider };
}
