"""A crew of CrewAI as a child process of Perdure: its model is any server of chat completions, its tools are the run's."""

from __future__ import annotations

import os
import threading
from typing import Any

# before the package is loaded: nothing is sent to anybody but the model
os.environ.setdefault("CREWAI_DISABLE_TELEMETRY", "true")
os.environ.setdefault("CREWAI_TRACING_ENABLED", "false")
os.environ.setdefault("OTEL_SDK_DISABLED", "true")

from crewai import LLM, Agent, BaseLLM, Crew, Task
from crewai.tools import BaseTool
from crewai.types.usage_metrics import UsageMetrics
from pydantic import BaseModel, Field, create_model

from perdure_agent import PerdureAgent, Tool, ToolFailed, serve

TYPES: dict[str, type] = {"string": str, "integer": int, "number": float, "boolean": bool, "array": list, "object": dict}


def answer(perdure: PerdureAgent, question: str) -> str:
    """Lets a crew of one work on the question. CrewAI keeps nothing from one question to the next."""
    llm = LLM(model=f"openai/{os.environ['OPENAI_MODEL']}", base_url=os.environ["OPENAI_BASE_URL"], api_key=os.environ["OPENAI_API_KEY"])
    meter = Meter(perdure, llm)
    tools = [] if perdure.must_finish else [crewai_tool(perdure, tool, meter) for tool in perdure.tools]
    worker = Agent(role="A careful worker", goal="Do the task.", backstory=perdure.prompt, llm=llm, tools=tools, max_retry_limit=0)
    task = Task(description=question, expected_output="A short plain answer.", agent=worker)
    result = Crew(agents=[worker], tasks=[task]).kickoff()
    meter.tell()
    return result.raw


class Meter:
    """Tells the run what the model used since the last time: each turn has its own."""

    def __init__(self, perdure: PerdureAgent, llm: BaseLLM) -> None:
        self._perdure = perdure
        self._llm = llm
        self._told = UsageMetrics()
        self._lock = threading.Lock()

    def tell(self) -> None:
        with self._lock:
            now, before = self._llm.get_token_usage_summary(), self._told
            self._told = now
        if now.total_tokens > before.total_tokens:
            self._perdure.usage(
                now.prompt_tokens - before.prompt_tokens,
                now.completion_tokens - before.completion_tokens,
                now.cached_prompt_tokens - before.cached_prompt_tokens,
            )


def crewai_tool(perdure: PerdureAgent, tool: Tool, meter: Meter) -> BaseTool:
    class PerdureTool(BaseTool):
        name: str = tool.name
        description: str = tool.description
        args_schema: type[BaseModel] = arguments_of(tool)

        def _run(self, **args: Any) -> str:
            meter.tell()
            try:
                return perdure.call_tool(tool.name, {name: value for name, value in args.items() if value is not None})
            except ToolFailed as error:
                return f"The call failed: {error}"

    return PerdureTool()


def arguments_of(tool: Tool) -> type[BaseModel]:
    """CrewAI knows arguments as a model of pydantic; nested schemas are left to Perdure, which checks every call."""
    required = tool.schema.get("required", [])
    fields = {
        name: (
            TYPES.get(schema.get("type", ""), Any) if name in required else TYPES.get(schema.get("type", ""), Any) | None,
            Field(... if name in required else None, description=schema.get("description", "")),
        )
        for name, schema in tool.schema.get("properties", {}).items()
    }
    return create_model(f"{tool.name}_arguments", **fields)


if __name__ == "__main__":
    serve(answer)
