id 01a1dd8c-f69b-73b3-94be-bac72e0a3d33
ready
turn
  User: hello
took
  Assistant: No script, no deed.
turn ended
turn
  User: run @@{"steps": [{"text": "I look.", "tool": "exec_command", "input": {"cmd": "ls"}}, {"text": "seen"}]}@@
took
  Assistant: I look.
  Tool run: /bin/bash -lc ls
tool run /bin/bash -lc ls
tool ended
  Assistant: seen
turn ended
turn
  User: write @@{"steps": [{"tool": "exec_command", "input": {"cmd": "touch {cwd}/cx.txt", "sandbox_permissions": "require_escalated", "justification": "because"}}, {"text": "did"}]}@@
took
  Tool run: /bin/bash -lc 'touch {cwd}/cx.txt'
tool run /bin/bash -lc 'touch {cwd}/cx.txt'
asks (Approval) run /bin/bash -lc 'touch {cwd}/cx.txt'
asks no more
tool ended
  Assistant: did
turn ended
turn
  User: write2 @@{"steps": [{"tool": "exec_command", "input": {"cmd": "touch {cwd}/cx2.txt", "sandbox_permissions": "require_escalated", "justification": "because"}}, {"text": "did not"}]}@@
took
  Tool run: /bin/bash -lc 'touch {cwd}/cx2.txt'
tool run /bin/bash -lc 'touch {cwd}/cx2.txt'
asks (Approval) run /bin/bash -lc 'touch {cwd}/cx2.txt'
asks no more
  Tool run (denied): /bin/bash -lc 'touch {cwd}/cx2.txt'
tool ended
  Assistant: did not
turn ended
turn
  User: plan @@{"steps": [{"tool": "update_plan", "input": {"plan": [{"step": "one", "status": "completed"}, {"step": "two", "status": "pending"}]}}, {"text": "planned"}]}@@
took
  Assistant: planned
turn ended
turn
  User: slowly @@{"steps": [{"text": "early", "hold": "x101a1dd8c-f69b-73b3-94be-bac72e0a3d33"}]}@@
took
  Assistant: early
  System (interrupted): 
turn cut off
