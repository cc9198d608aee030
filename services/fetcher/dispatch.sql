-- name: hold
-- Leases do not run out while the stage that the source is in, or waits for, waits itself for a dependency.
with waiting as (
    select max(array_position(array['fetching', 'chunking', 'embedding', 'indexing'], stage)) as furthest
    from stage_pause where expires_at > now()
)
update knowledge_source s
set due_at = now() + %(lease)s
from (
    select k.organization_id, k.id from knowledge_source k, waiting
    where k.status = 'ingesting' and k.due_at <= now()
      and array_position(array['queued', 'fetching', 'chunking', 'embedding', 'indexing'], k.stage) - 1
          <= waiting.furthest
    order by k.organization_id, k.id
    for update of k skip locked) held
where s.organization_id = held.organization_id and s.id = held.id

-- name: one_at_a_time
-- Until the end of the transaction no other dispatcher counts what is in flight.
select pg_advisory_xact_lock(hashtext('dispatch'))

-- name: take_turns
-- Gives out due sources: by turns among organizations, each up to its share in flight, by priority within one.
-- Organizations are found by skipping through the index, so a long queue of one costs the others nothing.
with recursive hop as (
    (select organization_id from knowledge_source
     where due_at is not null and (archived_at is null or vanished_at is not null or deleted_at is not null)
     order by organization_id limit 1)
    union all
    select (select s.organization_id from knowledge_source s
            where s.due_at is not null
              and (s.archived_at is null or s.vanished_at is not null or s.deleted_at is not null)
              and s.organization_id > hop.organization_id
            order by s.organization_id limit 1)
    from hop where hop.organization_id is not null
), room as (
    select organization_id, %(each)s - (
        select count(*) from knowledge_source s
        where s.organization_id = hop.organization_id and s.status = 'ingesting' and s.due_at > now()) as free
    from hop where organization_id is not null
), waiting as (
    select w.*, room.free, row_number() over (partition by w.organization_id order by w.priority, w.due_at, w.id) as turn
    from room cross join lateral (
        select s.organization_id, s.id, s.priority, s.due_at from knowledge_source s
        where s.organization_id = room.organization_id and s.due_at <= now()
          and (s.archived_at is null or s.vanished_at is not null or s.deleted_at is not null)
        order by s.priority, s.due_at, s.id
        limit %(each)s  -- a number that the planner knows: else it reads the whole table for the update
        for update of s skip locked) w
    where room.free > 0
), taken as (
    select organization_id, id from waiting where turn <= free order by turn, random()
    limit greatest(0, %(all)s - (select count(*) from knowledge_source where status = 'ingesting' and due_at > now()))
)
update knowledge_source s
set lapses = case s.status when 'ingesting' then s.lapses + 1 when 'pending' then s.lapses else 0 end,
    -- A refresh by schedule begins a revision; a new try or a lapsed lease goes on with its own.
    revision = case when s.status in ('ready', 'failed') then s.revision + 1 else s.revision end,
    attempts = case when s.status in ('ready', 'failed') then 0 else s.attempts end,
    status = 'ingesting', due_at = now() + %(lease)s, updated_at = now(),
    stage = case when s.deleted_at is null then 'fetching' else 'indexing' end
from taken t join knowledge_base b on b.organization_id = t.organization_id
where s.organization_id = t.organization_id and s.id = t.id and b.id = s.knowledge_base_id
returning s.organization_id, s.id as source_id, s.knowledge_base_id, s.revision, s.kind, s.url, s.body_key, s.filename,
    s.media_type, s.title, s.description, s.priority, s.lapses, s.deleted_at is not null as deleted, b.preset,
    case when s.live_revision is not null then s.body_hash end as body_hash,
    case when s.live_revision is not null then s.fetched_url end as fetched_url,
    case when s.live_revision is not null then s.etag end as etag,
    case when s.live_revision is not null then s.last_modified end as last_modified,
    exists (select from crawl_page p where p.organization_id = s.organization_id and p.page_id = s.id) as crawled,
    exists (select from crawl_page p where p.organization_id = s.organization_id and p.page_id = s.id
            and p.body_hash is distinct from s.body_hash) as lacks_links

-- name: room
-- How many more may be in flight in the whole installation, and whether anything is due.
select %(all)s - (select count(*) from knowledge_source where status = 'ingesting' and due_at > now()),
       (select true from knowledge_source
        where due_at <= now() and (archived_at is null or vanished_at is not null or deleted_at is not null)
        order by due_at limit 1) is not null

-- name: count_due
select count(*) from (
    select from knowledge_source
    where due_at <= now() and (archived_at is null or vanished_at is not null or deleted_at is not null)
    limit 1000) due

-- name: one_announcer
-- Whether no other announcer is at work: two would publish events of one source out of order.
select pg_try_advisory_xact_lock(hashtext('announce'))

-- name: unpublished
-- What upstream has not been told yet, oldest first.
select organization_id, source_id, id, type, data, occurred_at from source_event
where published_at is null order by occurred_at, id limit %(most)s for update

-- name: published
update source_event set published_at = now()
from unnest(%(organizations)s::uuid[], %(sources)s::uuid[], %(ids)s::uuid[]) as told (organization_id, source_id, id)
where (source_event.organization_id, source_event.source_id, source_event.id)
    = (told.organization_id, told.source_id, told.id)

-- name: retitled
-- Sources whose words have followed no new title for a while: the event that asked for it may be lost.
select organization_id, id as source_id, revision from knowledge_source
where live_revision is not null and deleted_at is null
  and words_prefix is distinct from words_prefix_of(title, description, coalesce(language, document_language))
  and status in ('ready', 'failed') and updated_at < now() - %(lease)s
order by organization_id, id limit %(most)s

-- name: unchanged
-- The body is what it was, and would be cut and embedded in the same way: the live chunks serve the new revision.
with same as (
    update knowledge_source s
    set status = 'ready', stage = null, live_revision = s.revision, attempts = 0, lapses = 0,
        kept_revision = case when s.kept_revision = s.live_revision then s.revision end,
        error_code = null, error_reason = null, priority = 3, due_at = now() + b.time_to_live,
        last_fetched_at = now(), ready_at = now(), updated_at = now(),
        etag = coalesce(%(etag)s, s.etag), last_modified = coalesce(%(last_modified)s, s.last_modified)
    from knowledge_base b
    where s.organization_id = %(organization)s and s.id = %(source)s and s.revision = %(revision)s
      and b.organization_id = s.organization_id and b.id = s.knowledge_base_id
      and s.status = 'ingesting' and s.deleted_at is null and s.live_revision is not null
      and s.body_hash = %(body_hash)s
      and s.recipe = %(cutting)s || '/' || coalesce((select name from embedding_space where is_current), 'none')
      and s.words_prefix = words_prefix_of(s.title, s.description, coalesce(s.language, s.document_language))
    returning s.*
), told as (
    insert into source_event (organization_id, id, source_id, revision, type, data)
    select organization_id, %(event_id)s, id, revision, %(type)s, jsonb_strip_nulls(jsonb_build_object(
        'organization_id', organization_id, 'source_id', id, 'knowledge_base_id', knowledge_base_id,
        'external_id', external_id, 'revision', revision, 'chunk_count', chunk_count, 'token_count', token_count,
        'unchanged', true))
    from same
    on conflict do nothing
)
select count(*) from same
