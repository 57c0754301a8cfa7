-- The state of a conversation: what changes with it, and the ids of its messages.
-- Lengths are taken without reading what is long; times alone would miss two changes within one
-- millisecond.
SELECT printf('%d %d %d %d %d %d',
  s.time_updated,
  (SELECT ifnull(sum(octet_length(data)), 0) FROM message WHERE session_id = s.id),
  (SELECT ifnull(max(time_updated), 0) FROM message WHERE session_id = s.id),
  (SELECT count(*) FROM part WHERE session_id = s.id),
  (SELECT ifnull(sum(octet_length(data)), 0) FROM part WHERE session_id = s.id),
  (SELECT ifnull(max(time_updated), 0) FROM part WHERE session_id = s.id))
  || ifnull((SELECT char(10) || group_concat(id, char(10)) FROM message WHERE session_id = s.id), '')
FROM session s
WHERE s.id = ?1
