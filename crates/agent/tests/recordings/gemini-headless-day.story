id 9bfe46ec-98b6-49b5-bbb7-bb64e5f83f59
ready
id 9bfe46ec-98b6-49b5-bbb7-bb64e5f83f59
turn
  User: hello
took
  Assistant: No script, no deed.
turn ended
id 9bfe46ec-98b6-49b5-bbb7-bb64e5f83f59
turn
  User: run @@{"steps": [{"text": "I run.", "tool": "run_shell_command", "input": {"command": "echo hi", "description": "d"}}, {"text": "ran-it"}]}@@
took
  Assistant: I run.
  Tool run_shell_command: echo hi
tool run_shell_command echo hi
tool ended
  Assistant: ran-it
turn ended
id 9bfe46ec-98b6-49b5-bbb7-bb64e5f83f59
turn
  User: todo @@{"steps": [{"tool": "write_todos", "input": {"todos": [{"description": "one", "status": "completed"}, {"description": "two", "status": "pending"}]}}, {"text": "noted"}]}@@
took
  Tool plan: two
tool write_todos two
  Tool write_todos (failed): {"todos":[{"description":"one","status":"completed"},{"description":"two","status":"pending"}]}
tool ended
  Assistant: noted
turn ended
id 9bfe46ec-98b6-49b5-bbb7-bb64e5f83f59
turn
  User: slow @@{"steps": [{"text": "early", "hold": "gr9bfe46ec-98b6-49b5-bbb7-bb64e5f83f59"}]}@@
took
  Assistant: early
  System (interrupted): 
turn cut off
id 9bfe46ec-98b6-49b5-bbb7-bb64e5f83f59
turn
took
  System: [API Error: Exiting due to command result that is not supported in non-interactive mode.]
turn failed: [API Error: Exiting due to command result that is not supported in non-interactive mode.]
id 9bfe46ec-98b6-49b5-bbb7-bb64e5f83f59
turn
  User: bad @@{"steps": [{"err": 400}]}@@
took
  System: [API Error: {"error":{"code":400,"details":[],"message":"the stub was told to fail with 400","status":"INVALID_ARGUMENT"}}]
turn failed: [API Error: {"error":{"code":400,"details":[],"message":"the stub was told to fail with 400","status":"INVALID_ARGUMENT"}}]
