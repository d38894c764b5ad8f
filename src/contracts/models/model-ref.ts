/** A model name, split at its first slash: `openai/gpt-x` → `openai`, `gpt-x`. */
export interface ModelRef {
  readonly provider: string;
  readonly model: string;
}

/** Splits `provider/model`. Undefined when the provider or the model is missing. Never throws. */
export function parseModelRef(text: string): ModelRef | undefined {
  const slash = text.indexOf('/');
  if (slash < 1 || slash === text.length - 1) return undefined;
  return { provider: text.slice(0, slash), model: text.slice(slash + 1) };
}

/** True for a model name without a provider, such as `gpt-x`. Never throws. */
export function isBareModel(text: string): boolean {
  return text.trim() !== '' && !text.includes('/');
}
