  User: hello
took
turn
  Assistant: No script, no deed.
turn ended
  User: write it @@{"steps":[{"end":"proper","input":{"command":"echo hi > acp.txt","description":"d"},"text":"I run.","tool":"bash"},{"end":"proper","text":"ran-it"}]}@@
took
turn
  Assistant: I run.
  Tool bash: echo hi > acp.txt
tool bash echo hi > acp.txt
tool ended
  Assistant: ran-it
turn ended
  User: write with leave, allow @@{"steps":[{"end":"proper","input":{"content":"written\n","filePath":"{cwd}/allow.txt"},"tool":"write"},{"end":"proper","text":"so it is"}]}@@
took
turn
  Tool write: {"content":"written\n","filePath":"{cwd}/allow.txt"}
tool write {"content":"written\n","filePath":"{cwd}/allow.txt"}
tool ended
  Assistant: so it is
turn ended
  User: write with leave, deny @@{"steps":[{"end":"proper","input":{"content":"written\n","filePath":"{cwd}/deny.txt"},"tool":"write"},{"end":"proper","text":"so it is"}]}@@
took
turn
  Tool write: {"content":"written\n","filePath":"{cwd}/deny.txt"}
tool write {"content":"written\n","filePath":"{cwd}/deny.txt"}
  Tool write (denied): {"content":"written\n","filePath":"{cwd}/deny.txt"}
tool ended
  User: list it @@{"steps":[{"end":"proper","input":{"todos":[{"content":"one","priority":"high","status":"completed"},{"content":"two","priority":"low","status":"pending"}]},"tool":"todowrite"},{"end":"proper","text":"noted"}]}@@
took
turn
  Tool plan: two
tool todowrite two
tool ended
  Assistant: noted
turn ended
  User: ask me @@{"steps":[{"end":"proper","input":{"q":1},"tool":"question"},{"end":"proper","text":"thanks"}]}@@
took
turn
  Tool invalid: {"error":"Model tried to call unavailable tool 'question'. Available tools: bash, edit, glob, grep, invalid, read, skill, task, todowrite, webfetch, write.","tool":"question"}
tool invalid {"error":"Model tried to call unavailable tool 'question'. Available too
tool ended
  Assistant: thanks
turn ended
  User: go on @@{"steps":[{"end":"proper","hold":"gate","text":"early-words"}]}@@
took
turn
  Assistant: early-words
turn cut off
  User: [glis] Your last step was cut off before it ended. Check whether it took effect before you do anything again.

again
took
turn
  Assistant: Heard, and nothing to do.
turn ended
  User: fail @@{"steps":[{"end":"proper","err":400}]}@@
took
turn
turn failed: the stub was told to fail with 400
  User: bye
took
turn
  Assistant: Heard, and nothing to do.
turn ended
