-- name: submit
-- Takes a wish for a document once. A newer one than the last starts a revision; an older one changes nothing.
with taken as (
    insert into taken_event (organization_id, event_source, event_id)
    values (%(organization)s, %(event_source)s, %(event_id)s)
    on conflict do nothing
    returning 1
)
insert into knowledge_source as s (
    organization_id, id, knowledge_base_id, kind, url, external_id, source_type, title, description, metadata,
    is_public, language, body_key, filename, media_type, stage, priority, due_at,
    wish_revision, wish_time, field_orders)
select
    %(organization)s, %(source)s, %(base)s, %(kind)s, %(url)s, %(external_id)s, %(source_type)s, %(title)s,
    %(description)s, %(metadata)s, %(is_public)s, %(language)s, %(body_key)s, %(filename)s,
    %(media_type)s, 'queued', %(priority)s, now(), %(revision)s, %(time)s,
    ordered_fields('{}', array['title', 'description', 'metadata', 'is_public', 'language'], %(revision)s, %(time)s)
from taken
on conflict (organization_id, id) do update
set knowledge_base_id = excluded.knowledge_base_id, kind = excluded.kind, url = excluded.url,
    external_id = excluded.external_id, source_type = excluded.source_type,
    body_key = excluded.body_key, filename = excluded.filename, media_type = excluded.media_type,
    -- The same bytes of another type are parsed anew.
    recipe = case when (s.media_type, s.filename) is not distinct from (excluded.media_type, excluded.filename)
             then s.recipe end,
    -- Fields of a newer wish about them stay.
    title = case when is_newer_field(s.field_orders, 'title', excluded.wish_revision, excluded.wish_time)
            then excluded.title else s.title end,
    description = case when is_newer_field(s.field_orders, 'description', excluded.wish_revision, excluded.wish_time)
            then excluded.description else s.description end,
    metadata = case when is_newer_field(s.field_orders, 'metadata', excluded.wish_revision, excluded.wish_time)
            then excluded.metadata else s.metadata end,
    is_public = case when is_newer_field(s.field_orders, 'is_public', excluded.wish_revision, excluded.wish_time)
            then excluded.is_public else s.is_public end,
    language = case when is_newer_field(s.field_orders, 'language', excluded.wish_revision, excluded.wish_time)
            then excluded.language else s.language end,
    field_orders = ordered_fields(s.field_orders, array['title', 'description', 'metadata', 'is_public', 'language'],
                                  excluded.wish_revision, excluded.wish_time),
    wish_revision = excluded.wish_revision, wish_time = excluded.wish_time,
    revision = s.revision + 1, status = 'pending', stage = 'queued', priority = excluded.priority, due_at = now(),
    attempts = 0, lapses = 0, error_code = null, error_reason = null, updated_at = now(),
    -- What was removed stays out of searches when the source comes back.
    live_revision = case when s.deleted_at is null then s.live_revision end,
    deleted_at = null,
    -- What a crawl has brought in and is now wished for itself is nobody else's.
    parent_id = null, vanished_at = null,
    archived_at = case when s.vanished_at is null then s.archived_at end
where is_newer(excluded.wish_revision, excluded.wish_time, s.wish_revision, s.wish_time)
returning s.revision

-- name: refresh
-- Takes a wish to fetch and ingest again. No row: it was taken before, is older, or the source is not there.
with taken as (
    insert into taken_event (organization_id, event_source, event_id)
    values (%(organization)s, %(event_source)s, %(event_id)s)
    on conflict do nothing
    returning 1
)
update knowledge_source s
set revision = s.revision + 1, status = 'pending', stage = 'queued', priority = %(priority)s, due_at = now(),
    attempts = 0, lapses = 0, error_code = null, error_reason = null, updated_at = now(),
    refresh_revision = %(revision)s, refresh_time = %(time)s
from taken
where s.organization_id = %(organization)s and s.id = %(source)s and s.deleted_at is null
  and is_newer(%(revision)s, %(time)s, s.wish_revision, s.wish_time)
  and (s.refresh_time is null or is_newer(%(revision)s, %(time)s, s.refresh_revision, s.refresh_time))
returning s.revision

-- name: change_fields
-- Takes new values of the fields around the content; absent ones stay. Searches obey at once.
with taken as (
    insert into taken_event (organization_id, event_source, event_id)
    values (%(organization)s, %(event_source)s, %(event_id)s)
    on conflict do nothing
    returning 1
), changed as (
    update knowledge_source s
    set
        title = case when 'title' = any(%(given)s::text[]) and is_newer_field(s.field_orders, 'title', %(revision)s, %(time)s)
                then %(title)s else s.title end,
        description = case when 'description' = any(%(given)s::text[]) and is_newer_field(s.field_orders, 'description', %(revision)s, %(time)s)
                then %(description)s else s.description end,
        metadata = case when 'metadata' = any(%(given)s::text[]) and is_newer_field(s.field_orders, 'metadata', %(revision)s, %(time)s)
                then %(metadata)s else s.metadata end,
        is_public = case when 'is_public' = any(%(given)s::text[]) and is_newer_field(s.field_orders, 'is_public', %(revision)s, %(time)s)
                then %(is_public)s else s.is_public end,
        archived_at = case when not 'archived' = any(%(given)s::text[])
                               or not is_newer_field(s.field_orders, 'archived', %(revision)s, %(time)s) then s.archived_at
                           when %(archived)s then coalesce(s.archived_at, now()) end,
        vanished_at = case when not 'archived' = any(%(given)s::text[])
                               or not is_newer_field(s.field_orders, 'archived', %(revision)s, %(time)s) then s.vanished_at end,
        field_orders = ordered_fields(s.field_orders, %(given)s, %(revision)s, %(time)s), updated_at = now()
    from taken
    where s.organization_id = %(organization)s and s.id = %(source)s and s.deleted_at is null
      and exists (select from unnest(%(given)s::text[]) f where is_newer_field(s.field_orders, f, %(revision)s, %(time)s))
    returning s.*
)
insert into source_event (organization_id, id, source_id, revision, type, data)
select organization_id, %(told_id)s, id, revision, %(told_type)s, jsonb_strip_nulls(jsonb_build_object(
    'organization_id', organization_id, 'source_id', id, 'knowledge_base_id', knowledge_base_id,
    'external_id', external_id, 'revision', revision, 'archived', %(archived)s::boolean))
from changed
where field_orders -> 'archived' = ordered_fields('{}', %(given)s, %(revision)s, %(time)s) -> 'archived'
on conflict do nothing

-- name: remove
-- Takes a wish that the source be gone: a tombstone and a higher revision, so that what is under way is dropped.
-- A source that was never there gets a tombstone too: the wish for it may come after.
with taken as (
    insert into taken_event (organization_id, event_source, event_id)
    values (%(organization)s, %(event_source)s, %(event_id)s)
    on conflict do nothing
    returning 1
)
insert into knowledge_source as s (
    organization_id, id, knowledge_base_id, kind, url, external_id, status, deleted_at,
    wish_revision, wish_time, field_orders)
select %(organization)s, %(source)s, %(base)s, %(kind)s, %(url)s, %(external_id)s, 'deleted', now(),
    %(revision)s, %(time)s, ordered_fields('{}', %(fields)s, %(revision)s, %(time)s)
from taken
on conflict (organization_id, id) do update
set (revision, status, stage, priority, due_at, deleted_at, attempts, lapses, error_code, error_reason,
     wish_revision, wish_time) = (
        -- An older one than the last wish still ends what was wished of the archive before it.
        select case when newer then s.revision + 1 else s.revision end, case when newer then 'pending' else s.status end,
               case when newer then 'queued' else s.stage end, case when newer then 0 else s.priority end,
               case when newer then now() else s.due_at end, case when newer then now() else s.deleted_at end,
               case when newer then 0 else s.attempts end, case when newer then 0 else s.lapses end,
               case when newer then null else s.error_code end, case when newer then null else s.error_reason end,
               case when newer then excluded.wish_revision else s.wish_revision end,
               case when newer then excluded.wish_time else s.wish_time end
        from (select is_newer(excluded.wish_revision, excluded.wish_time, s.wish_revision, s.wish_time)) is_it (newer)),
    archived_at = case when not is_newer_field(s.field_orders, 'archived', excluded.wish_revision, excluded.wish_time)
                  then s.archived_at end,
    vanished_at = case when not is_newer_field(s.field_orders, 'archived', excluded.wish_revision, excluded.wish_time)
                  then s.vanished_at end,
    -- No crawl brings back what was removed for itself.
    parent_id = case when not is_newer(excluded.wish_revision, excluded.wish_time, s.wish_revision, s.wish_time)
                then s.parent_id end,
    field_orders = ordered_fields(s.field_orders, %(fields)s, excluded.wish_revision, excluded.wish_time),
    updated_at = now()
-- One that was removed before is removed again: the order of its wishes moves on, and upstream is told.
where is_newer(excluded.wish_revision, excluded.wish_time, s.wish_revision, s.wish_time)
   or is_newer_field(s.field_orders, 'archived', excluded.wish_revision, excluded.wish_time)
returning s.revision

-- name: state
-- What there is to say about a source after a wish. No row: it was never there, or was removed before the wish.
select revision, deleted_at is null and live_revision is not null
       and words_prefix is distinct from words_prefix_of(title, description, coalesce(language, document_language))
from knowledge_source
where organization_id = %(organization)s and id = %(source)s
  and (deleted_at is null or not is_newer(%(revision)s, %(time)s, wish_revision, wish_time))

-- name: ensure_organization
select ensure_organization(%(organization)s, %(base)s)

-- name: forget
-- Event ids older than the broker keeps events can't come again.
delete from taken_event where taken_at < now() - %(age)s

-- name: promote
-- An agent's fetch brings a page in: once in 30 days, so many a day, and never one that was removed.
with taken as (
    insert into taken_event (organization_id, event_source, event_id)
    values (%(organization)s, %(event_source)s, %(event_id)s)
    on conflict do nothing
    returning 1
)
insert into knowledge_source as s (
    organization_id, id, knowledge_base_id, kind, url, source_type, title, stage, priority, due_at, promoted_at,
    wish_time)
select %(organization)s, %(source)s, %(base)s, 'url', %(url)s, 'automation', %(title)s, 'queued', 2, now(), now(),
    %(time)s
from taken
where (select count(*) from knowledge_source p
       where p.organization_id = %(organization)s and p.promoted_at > now() - interval '1 day') < %(most)s
on conflict (organization_id, id) do update
set revision = s.revision + 1, status = 'pending', stage = 'queued', priority = 2, due_at = now(), promoted_at = now(),
    attempts = 0, lapses = 0, error_code = null, error_reason = null, updated_at = now(),
    refresh_time = greatest(excluded.wish_time, s.refresh_time)
where s.deleted_at is null and s.archived_at is null and s.status in ('ready', 'failed')
  and coalesce(s.last_fetched_at, s.updated_at) < now() - %(again)s
returning s.revision
