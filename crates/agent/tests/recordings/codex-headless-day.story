id 01a1dd8c-f69b-73b3-94be-bac72e0a3d33
ready
turn
took
  User: hello
  Assistant: No script, no deed.
turn ended
turn
took
  User: run @@{"steps": [{"text": "I look.", "tool": "exec_command", "input": {"cmd": "ls"}}, {"text": "seen"}]}@@
  Assistant: I look.
tool run /bin/bash -lc ls
  Tool run: /bin/bash -lc ls
tool ended
  Assistant: seen
turn ended
turn
took
  User: write @@{"steps": [{"tool": "exec_command", "input": {"cmd": "touch {cwd}/cx.txt", "sandbox_permissions": "require_escalated", "justification": "because"}}, {"text": "did"}]}@@
tool run /bin/bash -lc 'touch {cwd}/cx.txt'
  Tool run: /bin/bash -lc 'touch {cwd}/cx.txt'
asks (Approval) run /bin/bash -lc 'touch {cwd}/cx.txt'
asks no more
tool ended
  Assistant: did
turn ended
turn
took
  User: write2 @@{"steps": [{"tool": "exec_command", "input": {"cmd": "touch {cwd}/cx2.txt", "sandbox_permissions": "require_escalated", "justification": "because"}}, {"text": "did not"}]}@@
tool run /bin/bash -lc 'touch {cwd}/cx2.txt'
  Tool run: /bin/bash -lc 'touch {cwd}/cx2.txt'
asks (Approval) run /bin/bash -lc 'touch {cwd}/cx2.txt'
asks no more
tool ended
  Assistant: did not
turn ended
turn
took
  User: plan @@{"steps": [{"tool": "update_plan", "input": {"plan": [{"step": "one", "status": "completed"}, {"step": "two", "status": "pending"}]}}, {"text": "planned"}]}@@
  Assistant: planned
turn ended
turn
took
  User: slowly @@{"steps": [{"text": "early", "hold": "x101a1dd8c-f69b-73b3-94be-bac72e0a3d33"}]}@@
  Assistant: early
turn cut off
