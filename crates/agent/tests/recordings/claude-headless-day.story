ready
id 0ca26bbd-e983-4e5f-a2ab-0ebd7350d328
took
turn
  Assistant: No script, no deed.
turn ended
id 0ca26bbd-e983-4e5f-a2ab-0ebd7350d328
took
turn
  Assistant: I write.
  Tool Write: {cwd}/new.txt
tool Write {cwd}/new.txt
asks (Approval) Write {cwd}/new.txt
asks no more
tool ended
  Assistant: written
turn ended
id 0ca26bbd-e983-4e5f-a2ab-0ebd7350d328
took
turn
  Tool Bash: touch denied.txt
tool Bash touch denied.txt
asks (Approval) Bash touch denied.txt
asks no more
  Tool Bash (denied): touch denied.txt
tool ended
  Assistant: so be it
turn ended
id 0ca26bbd-e983-4e5f-a2ab-0ebd7350d328
took
turn
  Tool AskUserQuestion: Which colour? [red | blue]
tool AskUserQuestion Which colour? [red | blue]
asks (Question) Which colour? [red | blue]
asks no more
tool ended
  Assistant: thanks
turn ended
id 0ca26bbd-e983-4e5f-a2ab-0ebd7350d328
took
turn
  Tool TodoWrite: two
tool TodoWrite two
  Tool TodoWrite (failed): two
tool ended
  Assistant: noted
turn ended
id 0ca26bbd-e983-4e5f-a2ab-0ebd7350d328
took
turn
  Assistant: early
  System (interrupted): 
turn cut off
id 0ca26bbd-e983-4e5f-a2ab-0ebd7350d328
took
turn
  Assistant: Heard, and nothing to do.
turn ended
id 0ca26bbd-e983-4e5f-a2ab-0ebd7350d328
took
turn
  Tool Bash: touch denied2.txt
tool Bash touch denied2.txt
asks (Approval) Bash touch denied2.txt
asks no more
  Tool Bash (denied): touch denied2.txt
tool ended
  System (interrupted): 
turn cut off
