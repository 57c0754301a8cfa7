id ses_e2257415bffema742ce2BCTz2G
ready
took
turn
  Assistant: Heard, and nothing to do.
turn ended
