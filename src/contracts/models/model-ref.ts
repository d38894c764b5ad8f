/** A model's name split at its first slash: `openai/gpt-x` → `openai`, `gpt-x`. */
export interface ModelRef {
  readonly provider: string;
  readonly model: string;
}

/** Splits `provider/model`; undefined when there is no provider or no model in it. Never throws. */
export function parseModelRef(text: string): ModelRef | undefined {
  const slash = text.indexOf('/');
  if (slash < 1 || slash === text.length - 1) return undefined;
  return { provider: text.slice(0, slash), model: text.slice(slash + 1) };
}

/** True for the name of a model that says nothing of its provider: `gpt-x`. Never throws. */
export function isBareModel(text: string): boolean {
  return text.trim() !== '' && !text.includes('/');
}
