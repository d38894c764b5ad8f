import { useChat } from '@ai-sdk/react';
import { DefaultChatTransport, getToolName, isToolUIPart, lastAssistantMessageIsCompleteWithApprovalResponses, type UIMessage } from 'ai';
import { type SubmitEvent, useEffect, useState } from 'react';

const transport = new DefaultChatTransport({ api: '/v1/chat' });

/** A chat with a durable agent: it continues after a reload, in a second tab, and after a lost connection. */
export function Chat({ id, messages: stored }: { readonly id: string; readonly messages: UIMessage[] }) {
  const { messages, sendMessage, addToolApprovalResponse, resumeStream, status, error } = useChat({
    id,
    messages: stored,
    transport,
    resume: true,
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  });

  // the connection was lost, not the run: its message continues
  useEffect(() => {
    if (!(error instanceof TypeError)) return undefined;
    const timer = setTimeout(() => void resumeStream(), 1_000);
    return () => clearTimeout(timer);
  }, [error, resumeStream]);

  return (
    <main>
      {messages.map((message) => (
        <article key={message.id} data-role={message.role}>
          {message.parts.map((part, index) => (
            <Part key={index} part={part} decide={(approved, approvalId) => void addToolApprovalResponse({ id: approvalId, approved })} />
          ))}
        </article>
      ))}
      <p role="status">{error && !(error instanceof TypeError) ? error.message : status}</p>
      <Input send={(text) => void sendMessage({ text })} />
    </main>
  );
}

interface PartProps {
  readonly part: UIMessage['parts'][number];
  readonly decide: (approved: boolean, approvalId: string) => void;
}

function Part({ part, decide }: PartProps) {
  if (part.type === 'text') return <p>{part.text}</p>;
  if (part.type === 'reasoning') return <details>{part.text}</details>;
  if (!isToolUIPart(part)) return null;
  const asked = part.state === 'approval-requested' ? part.approval.id : undefined;
  return (
    <section data-state={part.state}>
      {getToolName(part)} {JSON.stringify(part.input)} {part.state === 'output-available' ? String(part.output) : part.state}
      {asked === undefined ? null : (
        <>
          <button onClick={() => decide(true, asked)}>Approve</button>
          <button onClick={() => decide(false, asked)}>Deny</button>
        </>
      )}
    </section>
  );
}

function Input({ send }: { readonly send: (text: string) => void }) {
  const [text, setText] = useState('');
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    send(text);
    setText('');
  };
  return (
    <form onSubmit={submit}>
      <input aria-label="Message" value={text} onChange={({ target }) => setText(target.value)} />
      <button>Send</button>
    </form>
  );
}
