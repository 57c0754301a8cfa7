-- A row if the last message of a conversation ended at a usage limit, or at the greatest length of an answer:
-- its output tells neither.
SELECT iif(data->>'$.finish' = 'length', 'length', 'limit')
FROM (SELECT data FROM message WHERE session_id = ?1 ORDER BY time_created DESC, id DESC LIMIT 1)
WHERE data->>'$.error.data.statusCode' = 429 OR data->>'$.finish' = 'length'
