-- name: crawls_of
-- The crawls that a page is part of, and what the scope of each follows from.
select c.root_id, r.knowledge_base_id, r.url as start, c.final_url, c.prefix, s.parent_id is not distinct from c.root_id as is_child
from crawl_page p
join crawl c on c.organization_id = p.organization_id and c.root_id = p.root_id
join knowledge_source r on r.organization_id = c.organization_id and r.id = c.root_id
join knowledge_source s on s.organization_id = p.organization_id and s.id = p.page_id
where p.organization_id = %(organization)s and p.page_id = %(source)s
order by c.root_id

-- name: lock
-- Locks the crawl until the end of the transaction, so that what is found by two pages is added once, and nothing to a
-- crawl that has ended. No row: it has, or the revision of the page is not wanted any more.
select p.depth from crawl c
join crawl_page p on p.organization_id = c.organization_id and p.root_id = c.root_id and p.page_id = %(source)s
join knowledge_source r on r.organization_id = c.organization_id and r.id = c.root_id and r.deleted_at is null
join knowledge_source s on s.organization_id = p.organization_id and s.id = p.page_id
where c.organization_id = %(organization)s and c.root_id = %(root)s
  and s.revision = %(revision)s and s.status = 'ingesting' and s.deleted_at is null
for update of c

-- name: begin
-- The start has come in a new revision.
update crawl c
set begun_revision = %(revision)s, final_url = %(final_url)s, priority = r.priority
from knowledge_source r
where c.organization_id = %(organization)s and c.root_id = %(root)s
  and r.organization_id = c.organization_id and r.id = c.root_id
  and c.begun_revision is distinct from %(revision)s
returning true

-- name: refresh_pages
-- All pages are to be read again, but those that are archived.
with page as (
    select id from knowledge_source
    where organization_id = %(organization)s and parent_id = %(root)s and deleted_at is null and archived_at is null
    order by id for update
)
update knowledge_source s
set revision = s.revision + 1, status = 'pending', stage = 'queued', priority = 3, due_at = now(), attempts = 0,
    lapses = 0, error_code = null, error_reason = null, updated_at = now()
where s.organization_id = %(organization)s and s.id = any(array(select id from page))

-- name: twin
-- A page of the crawl that has the same body: two addresses of one page. And whether this one is the better address,
-- where nothing has come of the other yet: the one without a query, else the one that was found first.
select p.page_id, s.parent_id = p.root_id and s.live_revision is null
       and (position('?' in own.url), own.number) < (position('?' in p.url), p.number)
from crawl_page p
join knowledge_source s on s.organization_id = p.organization_id and s.id = p.page_id and s.deleted_at is null
join crawl_page own on own.organization_id = p.organization_id and own.root_id = p.root_id and own.page_id = %(source)s
where p.organization_id = %(organization)s and p.root_id = %(root)s and p.page_id <> own.page_id and p.seen = 'there'
  and p.body_hash = %(body_hash)s
order by p.number limit 1

-- name: displace
-- Another address turns out to be the better one of a page of which nothing has come yet.
with displaced as (
    delete from knowledge_source
    where organization_id = %(organization)s and id = %(page)s and parent_id = %(root)s and live_revision is null
)
update crawl_page set seen = 'duplicate', duplicate_of = %(source)s
where organization_id = %(organization)s and root_id = %(root)s and page_id = %(page)s

-- name: is_no_page
-- Whether an address of the crawl is known to be none of a page of its own, so that it stands for no other.
select 1 from crawl_page
where organization_id = %(organization)s and root_id = %(root)s and page_id = %(page)s
  and seen in ('duplicate', 'gone', 'refused', 'unlisted')

-- name: saw
-- What has become of the page in this revision of the start.
update crawl_page p
set seen = %(seen)s, seen_revision = c.begun_revision, duplicate_of = %(duplicate_of)s,
    body_hash = coalesce(%(body_hash)s, p.body_hash)
from crawl c
where c.organization_id = p.organization_id and c.root_id = p.root_id
  and p.organization_id = %(organization)s and p.root_id = %(root)s and p.page_id = %(source)s

-- name: known
-- The sources that the pages are already, under whatever id; else the ids that they would have.
select coalesce(
    (select s.id from knowledge_source s
     where s.organization_id = %(organization)s and s.knowledge_base_id = %(base)s and s.kind = 'url'
       and md5(s.url) = md5(found.url) and s.url = found.url and s.deleted_at is null
     order by s.id = found.id desc, s.id limit 1), found.id)
from unnest(%(ids)s::uuid[], %(urls)s::text[]) with ordinality as found (id, url, place)
order by found.place

-- name: find
-- Notes the pages that something leads to, and how near to the start. Gives those that were not known.
insert into crawl_page as p (organization_id, root_id, page_id, url, depth)
select %(organization)s, %(root)s, found.id, min(found.url), min(found.depth)
from unnest(%(ids)s::uuid[], %(urls)s::text[], %(depths)s::integer[]) with ordinality as found (id, url, depth, place)
group by found.id
order by min(found.place)
on conflict (organization_id, root_id, page_id) do update set depth = excluded.depth where p.depth > excluded.depth
returning page_id, xmax = 0 as is_new

-- name: drop_links
delete from crawl_link
where organization_id = %(organization)s and root_id = %(root)s and page_id = %(source)s and in_sitemap = %(in_sitemap)s
  and target_id <> all(%(ids)s::uuid[])

-- name: add_links
insert into crawl_link (organization_id, root_id, page_id, target_id, in_sitemap)
select distinct %(organization)s::uuid, %(root)s::uuid, %(source)s::uuid, target, %(in_sitemap)s
from unnest(%(ids)s::uuid[]) target
on conflict do nothing

-- name: wake
-- Pages that are sources by a wish of their own stay so; but their links are needed once.
with page as (
    select id from knowledge_source
    where organization_id = %(organization)s and id = any(%(ids)s::uuid[]) and id <> %(root)s
      and parent_id is distinct from %(root)s and deleted_at is null and archived_at is null and status <> 'pending'
    order by id for update
)
update knowledge_source s
set revision = s.revision + 1, status = 'pending', stage = 'queued', priority = 3, due_at = now(), attempts = 0,
    lapses = 0, error_code = null, error_reason = null, updated_at = now()
where s.organization_id = %(organization)s and s.id = any(array(select id from page))

-- name: adopt
-- Makes pages sources that are none yet, within the limits of the crawl, the nearest first. One that was removed for
-- itself is one; one that went with the start of a crawl comes back. While pages are on their way, addresses that
-- turned out to be none keep their places: else pages that are found early would take those of nearer ones.
with rule as (
    select c.depth, c.priority as crawl_priority, c.begun_revision, r.knowledge_base_id, r.source_type, r.description,
        r.metadata, r.is_public, r.language, r.archived_at, r.wish_time, greatest(0, c.max_pages - 1 - (
        select count(*) from knowledge_source k
        where k.organization_id = c.organization_id and k.parent_id = c.root_id and k.deleted_at is null
          and k.vanished_at is null) - (
        select count(*) from crawl_page d
        where %(keeps_places)s and d.organization_id = c.organization_id and d.root_id = c.root_id
          and d.seen_revision = c.begun_revision and d.seen in ('duplicate', 'gone', 'unlisted'))) as free
    from crawl c join knowledge_source r on r.organization_id = c.organization_id and r.id = c.root_id
    where c.organization_id = %(organization)s and c.root_id = %(root)s and r.deleted_at is null
), wanted as (
    select p.page_id, p.url, p.number
    from crawl_page p
    cross join rule
    left join knowledge_source k on k.organization_id = p.organization_id and k.id = p.page_id
    left join crawl_page twin
        on twin.organization_id = p.organization_id and twin.root_id = p.root_id and twin.page_id = p.duplicate_of
    where p.organization_id = %(organization)s and p.root_id = %(root)s and p.page_id = any(%(ids)s::uuid[])
      and p.depth <= rule.depth
      and (k.id is null or (k.deleted_at is not null and k.parent_id is not null))
      and (p.seen_revision is distinct from rule.begun_revision or (p.seen = 'duplicate' and twin.seen = 'gone'))
    order by p.depth, p.number
    limit (select free from rule)
)
insert into knowledge_source as s (
    organization_id, id, knowledge_base_id, kind, url, source_type, description, metadata, is_public, language, stage,
    priority, due_at, archived_at, wish_time, parent_id)
select %(organization)s, wanted.page_id, rule.knowledge_base_id, 'url', wanted.url, rule.source_type, rule.description,
    rule.metadata, rule.is_public, rule.language, 'queued', rule.crawl_priority, now(), rule.archived_at,
    rule.wish_time, %(root)s
from wanted cross join rule
order by wanted.number
on conflict (organization_id, id) do update
set revision = s.revision + 1, status = 'pending', stage = 'queued', priority = excluded.priority, due_at = now(),
    knowledge_base_id = excluded.knowledge_base_id, url = excluded.url, source_type = excluded.source_type,
    description = excluded.description, metadata = excluded.metadata, is_public = excluded.is_public,
    language = excluded.language, archived_at = excluded.archived_at, parent_id = excluded.parent_id,
    attempts = 0, lapses = 0, error_code = null, error_reason = null, live_revision = null, deleted_at = null,
    updated_at = now()
where s.deleted_at is not null and s.parent_id is not null
returning s.id

-- name: drop_page
-- What turns out to be no page of its own, and never was one, leaves nothing behind.
delete from knowledge_source
where organization_id = %(organization)s and id = %(source)s and revision = %(revision)s and parent_id = %(root)s
  and live_revision is null and deleted_at is null

-- name: let_stand
-- What was a page of its own stays as it is until the crawl is settled.
update knowledge_source
set status = 'ready', stage = null, due_at = null, attempts = 0, lapses = 0, error_code = null, error_reason = null,
    updated_at = now()
where organization_id = %(organization)s and id = %(source)s and revision = %(revision)s and parent_id = %(root)s
  and status = 'ingesting' and live_revision is not null and deleted_at is null
