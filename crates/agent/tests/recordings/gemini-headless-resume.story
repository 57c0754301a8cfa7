id 9bfe46ec-98b6-49b5-bbb7-bb64e5f83f59
ready
id 9bfe46ec-98b6-49b5-bbb7-bb64e5f83f59
turn
  User: after
took
  Assistant: Heard, and nothing to do.
turn ended
