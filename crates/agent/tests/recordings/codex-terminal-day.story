turn
  User: hello
took
  Assistant: No script, no deed.
turn ended
turn
  User: run @@{"steps":[{"text":"I look.","tool":"exec_command","input":{"cmd":"ls"}},{"text":"seen"}]}@@
took
  Assistant: I look.
  Tool exec_command: ls
tool exec_command ls
asks no more
tool ended
  Assistant: seen
turn ended
turn
  User: write @@{"steps":[{"tool":"exec_command","input":{"cmd":"touch {cwd}/cx.txt","sandbox_permissions":"require_escalated","justification":"because"}},{"text":"did"}]}@@
took
  Tool exec_command: touch {cwd}/cx.txt
tool exec_command touch {cwd}/cx.txt
asks no more
tool ended
  Assistant: did
turn ended
turn
  User: write2 @@{"steps":[{"tool":"exec_command","input":{"cmd":"touch {cwd}/cx2.txt && echo a command that is longer than the screen is wide, so that it stands on two lines","sandbox_permissions":"require_escalated","justification":"because"}},{"text":"did not"}]}@@
took
  Tool exec_command: touch {cwd}/cx2.txt && echo a command that is longer than the screen is wide, so that it stands on two lines
tool exec_command touch {cwd}/cx2.txt && echo a command that is longer than the scree
asks no more
tool ended
  System (interrupted): 
turn cut off
turn
  User: slowly @@{"steps":[{"text":"early","hold":"rec1"}]}@@
took
  System (interrupted): 
turn cut off
turn
  User: refuse @@{"steps":[{"err":400}]}@@
took
  System: {"error":{"message":"the stub was told to fail with 400","type":"invalid_request_error"}}
turn failed: {"error":{"message":"the stub was told to fail with 400","type":"invalid_request_error"}}
turn
  User: limit @@{"steps":[{"err":429,"limit_until":1794780000}]}@@
took
  System: You’ve hit your usage limit. Visit https://chatgpt.com/settings/usage to purchase more credits or try again at 10:00 PM.
turn limited 10:00 PM
