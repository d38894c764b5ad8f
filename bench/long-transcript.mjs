/** A transcript as a long run has it: each answer calls `calls` tools, and every result has `resultChars` characters. */
export function longTranscript({ messages, calls = 1, resultChars }) {
  const transcript = [{ id: 'task', role: 'user', parts: [{ type: 'text', text: 'Go through the project and mend what is broken.' }] }];
  for (let turn = 0; transcript.length < messages; turn += 1) transcript.push(...turnOf(turn, calls, resultChars));
  return transcript;
}

function turnOf(turn, calls, resultChars) {
  const ids = Array.from({ length: calls }, (_, index) => `t${turn}_${index}`);
  const text = { type: 'text', text: `Next I read part ${turn} and compare it with what src/main.ts expects of it.` };
  return [
    { id: `t${turn}`, role: 'assistant', turn, parts: [text, ...ids.map((callId, index) => callOf(callId, turn, index))] },
    ...ids.map((callId) => ({
      id: callId,
      role: 'tool',
      turn,
      parts: [{ type: 'tool_result', callId, isError: false, parts: [{ type: 'text', text: proseOf(turn, resultChars) }] }],
    })),
  ];
}

function callOf(callId, turn, index) {
  return { type: 'tool_call', callId, name: 'read_file', args: { path: `src/parts/part-${turn}/file-${index}.ts`, limit: 200 } };
}

function proseOf(turn, chars) {
  const line = `export const value${turn} = compute(${turn}, 'src/lib/part-${turn}.ts'); // see https://example.com/issues/${turn}\n`;
  return line.repeat(Math.ceil(chars / line.length)).slice(0, chars);
}
