id ses_e2257415bffema742ce2BCTz2G
ready
took
turn
  Assistant: No script, no deed.
turn ended
took
turn
  Assistant: I run.
  Tool execute: echo hi > acp.txt
tool execute echo hi > acp.txt
asks (Approval) execute echo hi > acp.txt
asks no more
tool ended
  Assistant: ran-it
turn ended
took
turn
asks (Approval) execute echo no > acp2.txt
  Tool execute: echo no > acp2.txt
tool execute echo no > acp2.txt
asks no more
  Tool execute (denied): echo no > acp2.txt
tool ended
turn ended
took
turn
  Tool plan: two
tool todowrite two
tool ended
  Assistant: noted
turn ended
took
turn
  Tool invalid: {"error":"Model tried to call unavailable tool 'question'. Available tools: bash, edit, glob, grep, invalid, read, skill, task, todowrite, webfetch, write.","tool":"question"}
tool invalid {"error":"Model tried to call unavailable tool 'question'. Available too
tool ended
  Assistant: thanks
turn ended
took
turn
asks (Approval) execute echo no > acp3.txt
  Tool execute: echo no > acp3.txt
tool execute echo no > acp3.txt
asks no more
tool ended
  System (interrupted): 
turn cut off
took
turn
  Assistant: early-words
  System (interrupted): 
turn cut off
took
turn
  System: Internal error: the stub was told to fail with 400
turn failed: Internal error: the stub was told to fail with 400
