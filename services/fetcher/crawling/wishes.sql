-- name: lock
-- The crawl of a start with the address that it began at, locked until the end of the transaction.
select c.prefix, p.url
from crawl c join crawl_page p on p.organization_id = c.organization_id and p.root_id = c.root_id and p.page_id = c.root_id
where c.organization_id = %(organization)s and c.root_id = %(source)s
for update of c

-- name: wish
insert into crawl as c (organization_id, root_id, max_pages, depth, prefix)
values (%(organization)s, %(source)s, %(max_pages)s, %(depth)s, %(prefix)s)
on conflict (organization_id, root_id) do update
set max_pages = excluded.max_pages, depth = excluded.depth, prefix = excluded.prefix, settled_revision = null

-- name: start_page
insert into crawl_page (organization_id, root_id, page_id, url, depth)
values (%(organization)s, %(source)s, %(source)s, %(url)s, 0)
on conflict (organization_id, root_id, page_id) do update set url = excluded.url

-- name: forget_links
-- What was in scope need not be any more, and the other way round: all links are to be read again.
with gone as (
    delete from crawl_link where organization_id = %(organization)s and root_id = %(source)s
)
update crawl_page set body_hash = null where organization_id = %(organization)s and root_id = %(source)s

-- name: release_pages
-- Pages of a crawl that ends become ordinary sources, with a schedule of their own.
with page as (
    select id from knowledge_source
    where organization_id = %(organization)s and parent_id = %(source)s and deleted_at is null
    order by id for update
)
update knowledge_source s
set parent_id = null, vanished_at = null, updated_at = now(),
    due_at = case when s.status in ('ready', 'failed') then s.last_fetched_at + b.time_to_live else s.due_at end
from knowledge_base b
where s.organization_id = %(organization)s and s.id = any(array(select id from page))
  and b.organization_id = s.organization_id and b.id = s.knowledge_base_id

-- name: remove_pages
-- Pages go with the start. Their tombstones keep its id: a crawl may bring them back.
with page as (
    select id from knowledge_source
    where organization_id = %(organization)s and parent_id = %(source)s and deleted_at is null
    order by id for update
)
update knowledge_source s
set revision = s.revision + 1, status = 'pending', stage = 'queued', priority = 0, due_at = now(), deleted_at = now(),
    attempts = 0, lapses = 0, error_code = null, error_reason = null, archived_at = null, vanished_at = null,
    updated_at = now()
where s.organization_id = %(organization)s and s.id = any(array(select id from page))

-- name: is_removed
select deleted_at is not null from knowledge_source where organization_id = %(organization)s and id = %(source)s

-- name: end_crawl
delete from crawl where organization_id = %(organization)s and root_id = %(source)s

-- name: pass_on
-- Gives the start's fields to its pages, but for those about which a later wish was made for the page itself.
with page as (
    select k.id, k.archived_at is not null as was_archived,
        (select coalesce(array_agg(name), '{}') from unnest(%(given)s::text[]) name
         where is_newer_field(k.field_orders, name, null, (r.field_orders -> name ->> 'time')::timestamptz)) as passed
    from knowledge_source k
    join knowledge_source r on r.organization_id = k.organization_id and r.id = k.parent_id
    where k.organization_id = %(organization)s and k.parent_id = %(source)s and k.deleted_at is null
      and r.deleted_at is null
    order by k.id for update of k
), changed as (
    update knowledge_source s
    set description = case when 'description' = any(page.passed) then r.description else s.description end,
        metadata = case when 'metadata' = any(page.passed) then r.metadata else s.metadata end,
        is_public = case when 'is_public' = any(page.passed) then r.is_public else s.is_public end,
        language = case when 'language' = any(page.passed) then r.language else s.language end,
        archived_at = case when not 'archived' = any(page.passed) then s.archived_at
                           when r.archived_at is not null then coalesce(s.archived_at, r.archived_at)
                           when s.vanished_at is not null then s.archived_at end,
        updated_at = now()
    from page, knowledge_source r
    where s.organization_id = %(organization)s and s.id = page.id
      and r.organization_id = %(organization)s and r.id = %(source)s
    returning s.organization_id, s.id, s.knowledge_base_id, s.external_id, s.revision,
        s.archived_at is not null as is_archived, page.was_archived
)
insert into source_event (organization_id, id, source_id, revision, type, data)
select organization_id, gen_random_uuid(), id, revision, %(told_type)s, jsonb_strip_nulls(jsonb_build_object(
    'organization_id', organization_id, 'source_id', id, 'knowledge_base_id', knowledge_base_id,
    'external_id', external_id, 'revision', revision, 'archived', is_archived))
from changed where is_archived <> was_archived

-- name: unsettle
-- Pages that were archived with the start may have been left halfway.
update crawl set settled_revision = null where organization_id = %(organization)s and root_id = %(source)s
