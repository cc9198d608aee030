-- name: stage_batch
-- Keeps one batch of a revision that is still wanted until all are there. Gives the number of those that are.
with wanted as (
    select organization_id, id, revision from knowledge_source
    where organization_id = %(organization)s and id = %(source)s and revision = %(revision)s
      and status = 'ingesting' and deleted_at is null
    for no key update
), kept as (
    insert into revision_batch (organization_id, source_id, revision, body_hash, recipe, batch, payload)
    select organization_id, id, revision, %(body_hash)s, %(recipe)s, %(batch)s, %(payload)s from wanted
    on conflict do nothing
    returning batch
), alive as (
    update knowledge_source set lapses = 0
    where organization_id = %(organization)s and id = %(source)s and revision = %(revision)s
      and status = 'ingesting' and lapses > 0
)
select count(*) from (
    select batch from kept
    union
    select batch from revision_batch
    where organization_id = %(organization)s and source_id = %(source)s and revision = %(revision)s
      and body_hash = %(body_hash)s and recipe = %(recipe)s) there

-- name: staged_batches
select payload from revision_batch
where organization_id = %(organization)s and source_id = %(source)s and revision = %(revision)s
  and body_hash = %(body_hash)s and recipe = %(recipe)s
order by batch

-- name: lock
-- The rows of the revisions that are still wanted, locked: until the end of the transaction no newer wish gets in.
-- A source has chunks, live or of before its removal, where it has the hash of a body.
select s.organization_id, s.id as source_id, s.revision, s.body_hash is not null as has_chunks,
       s.words_prefix is distinct from words_prefix_of(s.title, s.description, coalesce(s.language, asked.language))
           or s.document_title is distinct from asked.document_title as words_are_old,
       coalesce(s.title, asked.document_title), s.description, coalesce(s.language, asked.language)
from unnest(%(organizations)s::uuid[], %(sources)s::uuid[], %(revisions)s::bigint[], %(document_titles)s::text[],
            %(languages)s::text[])
    as asked (organization_id, id, revision, document_title, language)
join knowledge_source s using (organization_id, id, revision)
where s.status = 'ingesting' and s.deleted_at is null
order by s.organization_id, s.id
for update of s

-- name: live_chunks
-- What is there of the sources now.
select c.organization_id, c.source_id, c.id from unnest(%(organizations)s::uuid[], %(sources)s::uuid[]) as asked (organization_id, source_id)
join chunk c using (organization_id, source_id)

-- name: drop_chunks
-- Takes chunks out; their vectors go by drop_vectors.
with gone as (
    select * from unnest(%(organizations)s::uuid[], %(sources)s::uuid[], %(chunks)s::uuid[])
        as gone (organization_id, source_id, chunk_id)
), places as (
    delete from chunk_place p using gone g
    where (p.organization_id, p.source_id, p.chunk_id) = (g.organization_id, g.source_id, g.chunk_id)
), words as (
    delete from chunk_words w using gone g
    where (w.organization_id, w.source_id, w.chunk_id) = (g.organization_id, g.source_id, g.chunk_id)
)
delete from chunk c using gone g
where (c.organization_id, c.source_id, c.id) = (g.organization_id, g.source_id, g.chunk_id)

-- name: move_chunks
-- Chunks that stay, where their place has changed: the row of the text is not touched.
update chunk_place p
set ordinal = n.ordinal, start_at = n.start_at, end_at = n.end_at,
    heading_path = array(select jsonb_array_elements_text(n.heading_path)), locator = n.locator
from unnest(%(organizations)s::uuid[], %(sources)s::uuid[], %(chunks)s::uuid[], %(ordinals)s::int[], %(starts)s::int[],
            %(ends)s::int[], %(heading_paths)s::jsonb[], %(locators)s::jsonb[])
    as n (organization_id, source_id, chunk_id, ordinal, start_at, end_at, heading_path, locator)
where (p.organization_id, p.source_id, p.chunk_id) = (n.organization_id, n.source_id, n.chunk_id)
  and (p.ordinal, p.start_at, p.end_at, to_jsonb(p.heading_path), p.locator)
      is distinct from (n.ordinal, n.start_at, n.end_at, n.heading_path, n.locator)

-- name: make_live
-- The revisions are what searches see from the end of this transaction on; upstream is told.
with made as (
    select * from unnest(
        %(organizations)s::uuid[], %(sources)s::uuid[], %(document_titles)s::text[], %(languages)s::text[], %(urls)s::text[],
        %(body_hashes)s::text[], %(recipes)s::text[], %(etags)s::text[], %(modified)s::text[], %(chunk_counts)s::int[],
        %(token_counts)s::int[], %(event_ids)s::uuid[])
        as made (organization_id, id, document_title, language, url, body_hash, recipe, etag, last_modified, chunk_count,
                 token_count, event_id)
), live as (
    update knowledge_source s
    set status = 'ready', stage = null, live_revision = s.revision, attempts = 0, lapses = 0, priority = 3,
        error_code = null, error_reason = null, due_at = now() + b.time_to_live,
        document_title = m.document_title, fetched_url = m.url, body_hash = m.body_hash, recipe = m.recipe,
        etag = m.etag, last_modified = m.last_modified, chunk_count = m.chunk_count, token_count = m.token_count,
        document_language = m.language,
        words_prefix = words_prefix_of(s.title, s.description, coalesce(s.language, m.language)),
        last_fetched_at = now(), ready_at = now(), updated_at = now()
    from made m, knowledge_base b
    where s.organization_id = m.organization_id and s.id = m.id
      and b.organization_id = s.organization_id and b.id = s.knowledge_base_id
    returning s.organization_id, s.id, s.knowledge_base_id, s.external_id, s.revision, s.chunk_count, s.token_count,
              m.event_id
), emptied as (
    delete from revision_batch r using made m where r.organization_id = m.organization_id and r.source_id = m.id
)
insert into source_event (organization_id, id, source_id, revision, type, data)
select organization_id, event_id, id, revision, %(type)s, jsonb_strip_nulls(jsonb_build_object(
    'organization_id', organization_id, 'source_id', id, 'knowledge_base_id', knowledge_base_id,
    'external_id', external_id, 'revision', revision, 'chunk_count', chunk_count, 'token_count', token_count))
from live
on conflict do nothing

-- name: write_words
-- The words of chunks. Chunks that have words get new ones.
insert into chunk_words (organization_id, source_id, chunk_id, words)
select organization_id, source_id, chunk_id, words_of(language, prose, verbatim)
from unnest(%(organizations)s::uuid[], %(sources)s::uuid[], %(chunks)s::uuid[], %(languages)s::text[], %(proses)s::text[],
            %(verbatims)s::text[]) as w (organization_id, source_id, chunk_id, language, prose, verbatim)
on conflict (organization_id, source_id, chunk_id) do update set words = excluded.words

-- name: lock_removal
select 1 from knowledge_source
where organization_id = %(organization)s and id = %(source)s and revision = %(revision)s
  and deleted_at is not null and status <> 'deleted'
for update

-- name: remove
-- Takes out everything that was made of a source; its vectors go by remove_vectors. The tombstone stays.
with chunks as (
    delete from chunk where organization_id = %(organization)s and source_id = %(source)s
), places as (
    delete from chunk_place where organization_id = %(organization)s and source_id = %(source)s
), words as (
    delete from chunk_words where organization_id = %(organization)s and source_id = %(source)s
), batches as (
    delete from revision_batch where organization_id = %(organization)s and source_id = %(source)s
), gone as (
    update knowledge_source
    set status = 'deleted', stage = null, due_at = null, live_revision = null, body_hash = null, recipe = null,
        words_prefix = null, document_title = null, document_language = null, kept_revision = null,
        fetched_url = null, etag = null, last_modified = null, chunk_count = 0, token_count = 0, lapses = 0,
        attempts = 0, updated_at = now()
    where organization_id = %(organization)s and id = %(source)s
    returning organization_id, id, knowledge_base_id, external_id, revision
)
insert into source_event (organization_id, id, source_id, revision, type, data)
select organization_id, %(event_id)s, id, revision, %(type)s, jsonb_strip_nulls(jsonb_build_object(
    'organization_id', organization_id, 'source_id', id, 'knowledge_base_id', knowledge_base_id,
    'external_id', external_id, 'revision', revision))
from gone
on conflict do nothing

-- name: lock_live
-- A live source whose words hold an old title.
select coalesce(title, document_title), description, coalesce(language, document_language) from knowledge_source
where organization_id = %(organization)s and id = %(source)s and live_revision is not null and deleted_at is null
  and words_prefix is distinct from words_prefix_of(title, description, coalesce(language, document_language))
for update

-- name: chunks_of
select id, text from chunk where organization_id = %(organization)s and source_id = %(source)s

-- name: retitled
update knowledge_source
set words_prefix = words_prefix_of(title, description, coalesce(language, document_language)), kept_revision = null
where organization_id = %(organization)s and id = %(source)s

-- name: spaces
select id, name from embedding_space
