-- A row if the last message of a conversation has ended at a usage limit. When that ends is not told.
SELECT ''
FROM (SELECT data FROM message WHERE session_id = ?1 ORDER BY time_created DESC, id DESC LIMIT 1)
WHERE data->>'$.error.data.statusCode' = 429
