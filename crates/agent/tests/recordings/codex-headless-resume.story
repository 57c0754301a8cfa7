id 01a1dd8c-f69b-73b3-94be-bac72e0a3d33
ready
turn
  User: after resume
took
  Assistant: Heard, and nothing to do.
turn ended
