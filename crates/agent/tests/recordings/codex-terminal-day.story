turn
took
  User: hello
  Assistant: No script, no deed.
turn ended
turn
took
  User: run @@{"steps":[{"text":"I look.","tool":"exec_command","input":{"cmd":"ls"}},{"text":"seen"}]}@@
  Assistant: I look.
tool exec_command ls
  Tool exec_command: ls
asks no more
tool ended
  Assistant: seen
turn ended
turn
took
  User: write @@{"steps":[{"tool":"exec_command","input":{"cmd":"touch {cwd}/cx.txt","sandbox_permissions":"require_escalated","justification":"because"}},{"text":"did"}]}@@
tool exec_command touch {cwd}/cx.txt
  Tool exec_command: touch {cwd}/cx.txt
asks no more
tool ended
  Assistant: did
turn ended
turn
took
  User: write2 @@{"steps":[{"tool":"exec_command","input":{"cmd":"touch {cwd}/cx2.txt && echo a command that is longer than the screen is wide, so that it stands on two lines","sandbox_permissions":"require_escalated","justification":"because"}},{"text":"did not"}]}@@
tool exec_command touch {cwd}/cx2.txt && echo a command that is longer than the scree
  Tool exec_command: touch {cwd}/cx2.txt && echo a command that is longer than the screen is wide, so that it stands on two lines
asks no more
tool ended
turn cut off
turn
took
  User: slowly @@{"steps":[{"text":"early","hold":"rec1"}]}@@
turn cut off
turn
took
  User: refuse @@{"steps":[{"err":400}]}@@
turn ended
  System: {"error":{"message":"the stub was told to fail with 400","type":"invalid_request_error"}}
turn
took
  User: limit @@{"steps":[{"err":429,"limit_until":1794780000}]}@@
limit 10:00 PM
turn ended
  System: You’ve hit your usage limit. Visit https://chatgpt.com/settings/usage to purchase more credits or try again at 10:00 PM.
