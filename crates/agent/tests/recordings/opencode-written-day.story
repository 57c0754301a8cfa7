took
  User: hello
turn
  Assistant: No script, no deed.
turn ended
took
  User: write it @@{"steps":[{"end":"proper","input":{"command":"echo hi > acp.txt","description":"d"},"text":"I run.","tool":"bash"},{"end":"proper","text":"ran-it"}]}@@
turn
  Assistant: I run.
tool bash echo hi > acp.txt
  Tool bash: echo hi > acp.txt
tool ended
  Assistant: ran-it
turn ended
took
  User: write with leave, allow @@{"steps":[{"end":"proper","input":{"content":"written\n","filePath":"{cwd}/allow.txt"},"tool":"write"},{"end":"proper","text":"so it is"}]}@@
turn
tool write {"content":"written\n","filePath":"{cwd}/allow.txt"}
  Tool write: {"content":"written\n","filePath":"{cwd}/allow.txt"}
tool ended
  Assistant: so it is
turn ended
took
  User: write with leave, deny @@{"steps":[{"end":"proper","input":{"content":"written\n","filePath":"{cwd}/deny.txt"},"tool":"write"},{"end":"proper","text":"so it is"}]}@@
turn
tool write {"content":"written\n","filePath":"{cwd}/deny.txt"}
  Tool write: {"content":"written\n","filePath":"{cwd}/deny.txt"}
tool ended
took
  User: list it @@{"steps":[{"end":"proper","input":{"todos":[{"content":"one","priority":"high","status":"completed"},{"content":"two","priority":"low","status":"pending"}]},"tool":"todowrite"},{"end":"proper","text":"noted"}]}@@
turn
tool todowrite two
  Tool plan: two
tool ended
  Assistant: noted
turn ended
took
  User: ask me @@{"steps":[{"end":"proper","input":{"q":1},"tool":"question"},{"end":"proper","text":"thanks"}]}@@
turn
tool invalid {"error":"Model tried to call unavailable tool 'question'. Available too
  Tool invalid: {"error":"Model tried to call unavailable tool 'question'. Available tools: bash, edit, glob, grep, invalid, read, skill, task, todowrite, webfetch, write.","tool":"question"}
tool ended
  Assistant: thanks
turn ended
took
  User: go on @@{"steps":[{"end":"proper","hold":"gate","text":"early-words"}]}@@
turn
  Assistant: early-words
turn cut off
took
  User: [glis] Your last step was cut off before it ended. Check whether it took effect before you do anything again.

again
turn
  Assistant: Heard, and nothing to do.
turn ended
took
  User: fail @@{"steps":[{"end":"proper","err":400}]}@@
turn
turn ended
took
  User: bye
turn
  Assistant: Heard, and nothing to do.
turn ended
