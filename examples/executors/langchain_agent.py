"""A LangChain agent as a child process of Perdure. Its model is any chat completions server; its tools are those of the run."""

from __future__ import annotations

import os
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, AIMessageChunk, AnyMessage, BaseMessage, HumanMessage, ToolCall, ToolMessage
from langchain_core.tools import StructuredTool, ToolException
from langchain_openai import ChatOpenAI

from perdure_agent import PerdureAgent, Tool, ToolFailed, serve


class LangChainAgent:
    """Keeps the conversation, so that later messages have their context."""

    def __init__(self) -> None:
        self._history: list[AnyMessage] | None = None

    def answer(self, perdure: PerdureAgent, question: str) -> str:
        if self._history is None:
            # a restarted process begins with the transcript, which may end in tool results
            self._history = [message for each in perdure.messages for message in langchain_messages(each)]
        else:
            self._history.append(HumanMessage(question))
        tools = [] if perdure.must_finish else [langchain_tool(perdure, tool) for tool in perdure.tools]
        agent = create_agent(model(), tools=tools, system_prompt=perdure.prompt)
        for mode, piece in agent.stream({"messages": self._history}, stream_mode=["messages", "updates"]):
            if mode == "messages":
                show(perdure, piece[0])
            else:
                for update in piece.values():
                    self._keep(perdure, update["messages"])
        return self._history[-1].text

    def _keep(self, perdure: PerdureAgent, messages: list[AnyMessage]) -> None:
        self._history = [*(self._history or []), *messages]
        for message in messages:
            if isinstance(message, AIMessage) and message.usage_metadata:
                used = message.usage_metadata
                perdure.usage(used["input_tokens"], used["output_tokens"])
            if isinstance(message, AIMessage) and message.tool_calls:
                perdure.announce_calls(len(message.tool_calls))


def model() -> ChatOpenAI:
    # no retries here: a failure fails the run with a clear error
    return ChatOpenAI(model=os.environ["OPENAI_MODEL"], max_retries=0, stream_usage=True)


def show(perdure: PerdureAgent, message: BaseMessage) -> None:
    if isinstance(message, AIMessageChunk) and message.text:
        perdure.text(message.text)


def langchain_tool(perdure: PerdureAgent, tool: Tool) -> StructuredTool:
    def call(**args: Any) -> str:
        try:
            return perdure.call_tool(tool.name, args)
        except ToolFailed as error:
            raise ToolException(str(error)) from error

    return StructuredTool(name=tool.name, description=tool.description, args_schema=tool.schema, func=call, handle_tool_error=True)


def langchain_messages(message: dict[str, Any]) -> list[AnyMessage]:
    """Converts a message of Perdure's transcript to LangChain messages."""
    parts = message["parts"]
    text = "\n".join(part["text"] for part in parts if part["type"] == "text")
    if message["role"] == "user":
        return [HumanMessage(text)]
    if message["role"] == "assistant":
        calls = [ToolCall(id=part["callId"], name=part["name"], args=part["args"]) for part in parts if part["type"] == "tool_call"]
        return [AIMessage(text, tool_calls=calls)]
    results = [part for part in parts if part["type"] == "tool_result"]
    return [ToolMessage(text_of(part["parts"]), tool_call_id=part["callId"]) for part in results]


def text_of(parts: list[dict[str, Any]]) -> str:
    return "\n".join(part.get("text") or part.get("head") or f"[{part['type']}]" for part in parts)


if __name__ == "__main__":
    serve(LangChainAgent().answer)
