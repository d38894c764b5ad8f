import { createHash } from 'node:crypto';

/** The names of a request's tools, as they are here and as they go over the wire. */
export interface ToolNames {
  /** The name to send: unique among the tools, and legal for every provider. Also for a name that is no tool's. */
  wire(name: string): string;
  /** The tool that a name in an answer means; the name itself when it means none. */
  own(wireName: string): string;
}

const HASH_CHARS = 8;

const known = new WeakMap<readonly object[], ToolNames>();

/**
 * The names of tools in letters that every provider takes, and the way back, so that a call by the sent name reaches its tool. A legal
 * name is never changed; where two would be sent as one, those that are not legal get a hash of theirs. The order of the tools plays no
 * part. Never throws.
 */
export function toolNames(tools: readonly { readonly name: string }[]): ToolNames {
  const names = known.get(tools) ?? makeNames([...new Set(tools.map(({ name }) => name))].toSorted());
  known.set(tools, names);
  return names;
}

function makeNames(names: readonly string[]): ToolNames {
  const taken = new Set(names.filter((name) => wireToolName(name) === name));
  const renamed = names.filter((name) => !taken.has(name));
  const wanted = renamed.map(wireToolName);
  const wireNames = new Map<string, string>();
  const reserved = new Set([...taken, ...wanted]);
  for (const name of renamed) {
    const wireName = wireToolName(name);
    const isShared = taken.has(wireName) || wanted.indexOf(wireName) !== wanted.lastIndexOf(wireName);
    wireNames.set(name, isShared ? hashedName(name, reserved) : wireName);
  }
  const originalNames = new Map([...wireNames].map(([name, wireName]) => [wireName, name]));
  return {
    wire: (name) => wireNames.get(name) ?? wireToolName(name),
    own: (wireName) => originalNames.get(wireName) ?? wireName,
  };
}

/** A name that is nobody else's; it is taken from here on. */
function hashedName(name: string, taken: Set<string>): string {
  for (let round = 0; ; round += 1) {
    const hash = createHash('sha256').update(`${name}\n${round}`).digest('hex').slice(0, HASH_CHARS);
    const candidate = `${wireToolName(name).slice(0, NAME_CHARS_MAX - HASH_CHARS - 1)}_${hash}`;
    if (taken.has(candidate)) continue;
    taken.add(candidate);
    return candidate;
  }
}

/** What every provider takes. */
const NAME_CHARS_MAX = 64;
const LEGAL_NAME = /^[a-zA-Z0-9_-]{1,64}$/u;

/**
 * The name of a call as providers take it back. A model may ask for a tool by any name (`functions.read`, or none at all): it is told
 * that there is no such tool, and the request that tells it must not be refused for the name.
 */
function wireToolName(name: string): string {
  if (LEGAL_NAME.test(name)) return name;
  return name.replaceAll(/[^a-zA-Z0-9_-]/gu, '_').slice(0, NAME_CHARS_MAX) || 'unnamed';
}
