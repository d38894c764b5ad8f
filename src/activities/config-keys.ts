import type { AgentDefinition } from '../define/define-agent.js';
import type { Config } from '../define/define-config.js';
import { KeyReference } from '../define/key-reference.js';
import { ownReferences } from '../providers/access/key-references.js';

/** The references of all keys that a config names: variables and files. */
export function keysOfConfig({ credentials = {}, providers = {}, agents = {}, artifacts }: Config): string[] {
  return [
    ...Object.values(credentials).flat(),
    ...Object.values(providers).flatMap((provider) => ownReferences(provider) ?? []),
    ...Object.values(agents).flatMap(keysOfExecutor),
    ...Object.values(artifacts?.credentials ?? {}),
  ];
}

/** A child process is given the keys that its definition names, and no other. */
function keysOfExecutor({ executor }: AgentDefinition): string[] {
  if (executor?.kind !== 'subprocess') return [];
  return Object.values(executor.env ?? {}).filter((value) => KeyReference.safeParse(value).success);
}
