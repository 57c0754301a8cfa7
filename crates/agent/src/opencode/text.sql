-- A conversation as `opencode export` prints it and `opencode import` takes it.
-- What is not known is left out there, and not null: so says a patch. What a user or a plugin has put
-- into the metadata may hold a null, and stays as it is. What is gathered is binary until the
-- end: as a text it would be taken for a string.
SELECT json_object(
  'info', json(iif(s.metadata IS NULL, i.info,
    json_set(i.info, '$.metadata', json(s.metadata)))),
  'messages', (
    SELECT jsonb_group_array(jsonb_object(
      'info', jsonb_set(m.data, '$.id', m.id, '$.sessionID', m.session_id),
      'parts', (
        SELECT jsonb_group_array(
          jsonb_set(p.data, '$.id', p.id, '$.sessionID', p.session_id, '$.messageID', p.message_id)
          ORDER BY p.id)
        FROM part p WHERE p.message_id = m.id))
      ORDER BY m.time_created, m.id)
    FROM message m WHERE m.session_id = s.id))
FROM session s, (
  SELECT json_patch('{}', json_object(
    'id', id,
    'slug', slug,
    'projectID', project_id,
    'workspaceID', workspace_id,
    'directory', directory,
    'path', path,
    'parentID', parent_id,
    'title', title,
    'agent', agent,
    'model', json(model),
    'version', version,
    'summary', json(iif(coalesce(summary_additions, summary_deletions, summary_files) IS NULL, NULL,
      json_object(
        'additions', ifnull(summary_additions, 0),
        'deletions', ifnull(summary_deletions, 0),
        'files', ifnull(summary_files, 0),
        'diffs', json(summary_diffs)))),
    'cost', cost,
    'tokens', json_object(
      'input', tokens_input,
      'output', tokens_output,
      'reasoning', tokens_reasoning,
      'cache', json_object('read', tokens_cache_read, 'write', tokens_cache_write)),
    'share', json(iif(share_url IS NULL, NULL, json_object('url', share_url))),
    'revert', json("revert"),
    'permission', json(permission),
    'time', json_object(
      'created', time_created,
      'updated', time_updated,
      'compacting', time_compacting,
      'archived', time_archived))) AS info
  FROM session WHERE id = ?1) i
WHERE s.id = ?1
