id 43c0003a-92e3-4591-b3a2-5cb5aee7a008
  User: hello
took
turn
background 0
  Assistant: No script, no deed.
turn ended
  User: write @@{"steps": [{"text": "I write.", "tool": "Write", "input": {"file_path": "{cwd}/tui1.txt", "content": "x"}}, {"text": "written-now"}]}@@
took
turn
tool Write {cwd}/tui1.txt
asks (Approval) Write {cwd}/tui1.txt
asks no more
tool ended
background 0
  Assistant: I write.
  Tool Write: {cwd}/tui1.txt
  Assistant: written-now
turn ended
  User: write @@{"steps": [{"tool": "Bash", "input": {"command": "touch d.txt", "description": "d"}}, {"text": "never"}]}@@
took
turn
tool Bash touch d.txt
asks (Approval) Bash touch d.txt
  Tool Bash: touch d.txt
  Tool Bash (denied): touch d.txt
  System (interrupted): 
asks no more
turn cut off
  User: slow @@{"steps": [{"text": "early-text", "hold": "t43c0003a-92e3-4591-b3a2-5cb5aee7a008"}]}@@
took
turn
  Assistant: early-text
  System (interrupted): 
turn cut off
  User: f @@{"steps": [{"err": 400}]}@@
took
turn
background 0
  Assistant: API Error: 400 the stub was told to fail with 400
turn failed: API Error: 400 the stub was told to fail with 400
  User: gone @@{"steps": [{"text": "early2", "hold": "t243c0003a-92e3-4591-b3a2-5cb5aee7a008"}]}@@
took
turn
id 43c0003a-92e3-4591-b3a2-5cb5aee7a008
  User: and now
took
turn
background 0
  Assistant: Heard, and nothing to do.
turn ended
