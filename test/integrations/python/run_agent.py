"""A client in another language: starts a run by its workflow name with plain JSON, directs it, and reads its result.

usage: run_agent.py ADDRESS TASK_QUEUE RUN_ID steer|cancel|follow|long
follow: only reads a run that another client started; long: reads a long run as a whole, and continues it
"""

import asyncio
import json
import os
import sys

from temporalio.client import Client


async def main(address: str, task_queue: str, run_id: str, what: str) -> None:
    client = await Client.connect(address)
    if what == "follow":
        run = client.get_workflow_handle(run_id)
        print(json.dumps({"progress": await run.query("progress"), "result": await run.result()}))
        return
    if what == "long":
        print(json.dumps(await read_and_continue(client, task_queue, run_id)))
        return
    run = await client.start_workflow(
        "agentRun",
        {"v": 1, "task": "Say what you hear.", "maxTurns": 5, "tenant": "python"},
        id=run_id,
        task_queue=task_queue,
    )
    said = {"progress": await run.query("progress")}
    while said["progress"]["phase"] != "model":
        said["progress"] = await run.query("progress")
    if what == "steer":
        await run.signal("steer", {"id": "first", "text": "steered from python"})
        message = {"id": "second", "text": "submitted from python"}
        said["receipt"] = await run.execute_update("submit", message)
        said["again"] = await run.execute_update("submit", message)
    if what == "cancel":
        await run.signal("cancel", {"reason": "enough"})
    said["result"] = await run.result()
    said["transcript"] = await run.query("transcript", {"from": 0})
    print(json.dumps(said))


async def read_and_continue(client: Client, task_queue: str, run_id: str) -> dict:
    run = client.get_workflow_handle(run_id)
    result = await run.result()
    messages = []
    while True:
        page = await run.query("transcript", {"from": len(messages)})
        messages += page["messages"]
        if page["next"] >= page["length"]:
            break
    again = await client.execute_workflow(
        "agentRun",
        {"v": 1, "task": "Which was the last?", "messages": messages, "continuedFrom": run_id},
        id=f"{run_id}.2",
        task_queue=task_queue,
    )
    return {"result": result, "messages": len(messages), "continued": again}


asyncio.run(main(*sys.argv[1:]))
# the SDK's native part sometimes aborts while the interpreter is taken down; by now everything is said
sys.stdout.flush()
os._exit(0)
