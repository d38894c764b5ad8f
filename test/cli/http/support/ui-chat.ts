import { AbstractChat, type ChatInit, type ChatState, type ChatStatus, DefaultChatTransport, isToolUIPart, type UIMessage } from 'ai';
import type { GatewayClient } from './gateway-client.js';

/** A `useChat` without React: the AI SDK's own chat and transport, with plain fields as its state. */
export class UiChat extends AbstractChat<UIMessage> {
  /** Status and text of each state in which the chat was seen. */
  readonly seen: string[];

  constructor(client: GatewayClient, options: ChatInit<UIMessage> = {}) {
    const seen: string[] = [];
    super({
      transport: new DefaultChatTransport({ api: `${client.url}/v1/chat`, headers: client.authorization }),
      ...options,
      state: new PlainState(options.messages ?? [], (messages) => seen.push(textOf(messages.at(-1)))),
    });
    this.seen = seen;
  }

  /** What the page shows of the last message: its parts but the borders of steps, in short. */
  get parts(): unknown[] {
    return (this.lastMessage?.parts ?? []).flatMap((part) => {
      if (part.type === 'step-start') return [];
      if (part.type === 'text' || part.type === 'reasoning') return [[part.type, part.text]];
      if (!isToolUIPart(part)) return [[part.type]];
      return [[part.type, part.state, part.input, ...(part.output === undefined ? [] : [part.output])]];
    });
  }

  /** The text of the last message. */
  get text(): string {
    return textOf(this.lastMessage);
  }
}

class PlainState implements ChatState<UIMessage> {
  status: ChatStatus = 'ready';
  error: Error | undefined = undefined;
  messages: UIMessage[];
  readonly #note: (messages: readonly UIMessage[]) => void;

  constructor(messages: UIMessage[], note: (messages: readonly UIMessage[]) => void) {
    this.messages = messages;
    this.#note = note;
  }

  pushMessage = (message: UIMessage): void => {
    this.messages = [...this.messages, message];
    this.#note(this.messages);
  };

  popMessage = (): void => {
    this.messages = this.messages.slice(0, -1);
  };

  replaceMessage = (index: number, message: UIMessage): void => {
    this.messages = this.messages.with(index, structuredClone(message));
    this.#note(this.messages);
  };

  snapshot = <T>(value: T): T => structuredClone(value);
}

/** The text parts of a message, as a page shows them. */
export function textOf(message: UIMessage | undefined): string {
  return (message?.parts ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('|');
}
