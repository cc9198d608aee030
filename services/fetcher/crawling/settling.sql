-- name: unsettled
-- Crawls of which no page is on its way any more, and whose last round has not been looked at.
select c.organization_id, c.root_id from crawl c
join knowledge_source r on r.organization_id = c.organization_id and r.id = c.root_id
where c.settled_revision is distinct from c.begun_revision
  and r.revision = c.begun_revision and r.status in ('ready', 'failed') and r.deleted_at is null
  and not is_crawl_under_way(c.organization_id, c.root_id)
order by c.organization_id, c.root_id
limit %(most)s

-- name: lock
-- The same for one crawl, locked. No row: somebody else is at it, or it goes on.
select r.status = 'ready', c.doubted_revision is not null from crawl c
join knowledge_source r on r.organization_id = c.organization_id and r.id = c.root_id
where c.organization_id = %(organization)s and c.root_id = %(root)s
  and c.settled_revision is distinct from c.begun_revision
  and r.revision = c.begun_revision and r.status in ('ready', 'failed') and r.deleted_at is null
for update of c skip locked

-- name: is_under_way
select is_crawl_under_way(%(organization)s, %(root)s)

-- name: come_nearer
-- Pages that are nearer to the start than was known when they were found.
update crawl_page p set depth = near.depth
from (
    select l.target_id, min(case when l.in_sitemap then 0 else f.depth end) + 1 as depth
    from crawl_link l
    join crawl_page f on f.organization_id = l.organization_id and f.root_id = l.root_id and f.page_id = l.page_id
    where l.organization_id = %(organization)s and l.root_id = %(root)s
    group by l.target_id) near
where p.organization_id = %(organization)s and p.root_id = %(root)s and p.page_id = near.target_id
  and p.depth > near.depth

-- name: reached
-- All pages that the start, its sitemap, or what they lead to leads to.
with recursive reached (page_id) as (
    select %(root)s::uuid
    union
    select l.target_id from reached r
    join crawl_link l on l.page_id = r.page_id and l.organization_id = %(organization)s and l.root_id = %(root)s
)
select page_id from reached

-- name: ask_again
-- What the crawl has archived, and is led to, may be back.
with page as (
    select k.id from knowledge_source k
    join crawl_page p on p.organization_id = k.organization_id and p.root_id = k.parent_id and p.page_id = k.id
    join crawl c on c.organization_id = p.organization_id and c.root_id = p.root_id
    where k.organization_id = %(organization)s and k.parent_id = %(root)s and k.id = any(%(ids)s::uuid[])
      and k.vanished_at is not null and k.deleted_at is null and p.seen_revision is distinct from c.begun_revision
    order by k.id for update of k
)
update knowledge_source s
set revision = s.revision + 1, status = 'pending', stage = 'queued', priority = 3, due_at = now(), attempts = 0,
    lapses = 0, error_code = null, error_reason = null, updated_at = now()
where s.organization_id = %(organization)s and s.id = any(array(select id from page))
returning s.id

-- name: is_complete
-- Whether of every page it is known in this round whether it is there, and what it leads to.
select not exists (
    select from crawl_page p
    join crawl c on c.organization_id = p.organization_id and c.root_id = p.root_id
    join knowledge_source s on s.organization_id = p.organization_id and s.id = p.page_id
    where p.organization_id = %(organization)s and p.root_id = %(root)s and s.deleted_at is null
      and s.archived_at is null
      and case when s.parent_id = p.root_id then p.seen_revision is distinct from c.begun_revision
               else p.seen_revision is null end)

-- name: gone
-- Pages that are gone, or that nothing leads to any more.
select k.id from knowledge_source k
join crawl_page p on p.organization_id = k.organization_id and p.root_id = k.parent_id and p.page_id = k.id
where k.organization_id = %(organization)s and k.parent_id = %(root)s and k.deleted_at is null
  and k.archived_at is null
  and (p.seen in ('gone', 'duplicate', 'unlisted') or not k.id = any(%(ids)s::uuid[]))
order by k.id for update of k

-- name: back
-- Pages that the crawl had archived, and that are there again.
select k.id from knowledge_source k
join crawl_page p on p.organization_id = k.organization_id and p.root_id = k.parent_id and p.page_id = k.id
join crawl c on c.organization_id = p.organization_id and c.root_id = p.root_id
join knowledge_source r on r.organization_id = c.organization_id and r.id = c.root_id
where k.organization_id = %(organization)s and k.parent_id = %(root)s and k.deleted_at is null
  and k.vanished_at is not null and k.status = 'ready' and k.id = any(%(ids)s::uuid[])
  and p.seen = 'there' and p.seen_revision = c.begun_revision and r.archived_at is null
order by k.id for update of k

-- name: show
-- Pages, or hides them; upstream is told.
with changed as (
    update knowledge_source s
    set archived_at = case when %(archived)s then now() end, vanished_at = case when %(archived)s then now() end,
        due_at = case when not %(archived)s then due_at end, updated_at = now()
    where s.organization_id = %(organization)s and s.id = any(%(ids)s::uuid[])
    returning s.*
)
insert into source_event (organization_id, id, source_id, revision, type, data)
select organization_id, gen_random_uuid(), id, revision, %(told_type)s, jsonb_strip_nulls(jsonb_build_object(
    'organization_id', organization_id, 'source_id', id, 'knowledge_base_id', knowledge_base_id,
    'external_id', external_id, 'revision', revision, 'archived', %(archived)s::boolean))
from changed

-- name: shown
select count(*) from knowledge_source k
where k.organization_id = %(organization)s and k.parent_id = %(root)s and k.deleted_at is null
  and k.archived_at is null

-- name: forget
-- Addresses that nothing leads to and that are no sources.
with gone as (
    delete from crawl_page p
    where p.organization_id = %(organization)s and p.root_id = %(root)s and not p.page_id = any(%(ids)s::uuid[])
      and not exists (select from knowledge_source s
                      where s.organization_id = p.organization_id and s.id = p.page_id and s.parent_id = p.root_id)
    returning p.page_id
)
delete from crawl_link l using gone
where l.organization_id = %(organization)s and l.root_id = %(root)s and l.page_id = gone.page_id

-- name: settle
update crawl
set settled_revision = begun_revision, doubted_revision = case when %(doubted)s then begun_revision end
where organization_id = %(organization)s and root_id = %(root)s
