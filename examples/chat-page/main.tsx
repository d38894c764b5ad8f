import { createRoot } from 'react-dom/client';
import { Chat } from './chat.js';

const id = new URLSearchParams(location.search).get('chat') ?? 'example';
// the conversation so far, as the gateway has it; a new chat has none
const response = await fetch(`/v1/chat/${encodeURIComponent(id)}`);
const { messages } = response.ok ? await response.json() : { messages: [] };
const root = document.querySelector('#root');
if (root) createRoot(root).render(<Chat id={id} messages={messages} />);
