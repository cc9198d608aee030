-- name: ensure_organization
select ensure_current_organization(%(base)s)

-- name: organization
select id, slug, name, plan, settings, created_at from organization where id = %(organization)s

-- name: knowledge_bases
select b.organization_id, b.id, b.name, b.scope, b.owner_profile_id, b.source_type, b.preset,
       extract(epoch from b.time_to_live)::float8 as time_to_live_seconds, b.is_default, b.created_at
from readable_knowledge_base(%(organization)s, %(profile)s, %(is_guest)s) b
where %(base)s::uuid is null or b.id = %(base)s
order by b.name, b.id

-- name: make_knowledge_base
insert into knowledge_base (organization_id, id, name, scope, owner_profile_id, source_type, preset, time_to_live)
values (%(organization)s, %(base)s, %(name)s, %(scope)s, %(owner)s, %(source_type)s, %(preset)s,
        make_interval(secs => %(time_to_live)s))
on conflict (organization_id, id) do update set name = knowledge_base.name
returning organization_id, id, name, scope, owner_profile_id, source_type, preset,
          extract(epoch from time_to_live)::float8 as time_to_live_seconds, is_default, created_at

-- name: sources
-- A page of a knowledge base's sources.
select s.*, case when not %(is_guest)s then recent_uses(s.organization_id, s.id) end as used_30d,
       crawl_of(s.organization_id, s.id) as crawl
from readable_source(%(organization)s, %(profile)s, %(sees_unpublished)s, %(is_guest)s) s
where s.knowledge_base_id = %(base)s and (%(after)s::uuid is null or s.id > %(after)s)
  and (%(status)s::text is null or case when s.archived_at is null then s.status else 'archived' end = %(status)s)
  and (%(parent)s::uuid is null or s.parent_id = %(parent)s)
order by s.id limit %(limit)s

-- name: source
-- One source, whatever state it is in.
select s.*, case when not %(is_guest)s then recent_uses(s.organization_id, s.id) end as used_30d,
       crawl_of(s.organization_id, s.id) as crawl
from readable_source(%(organization)s, %(profile)s, %(sees_unpublished)s, %(is_guest)s) s
where s.id = %(source)s

-- name: chunks
-- A page of a source's live chunks in their order.
select p.ordinal, c.id as chunk_id, c.token_count, encode(c.content_hash, 'hex') as content_hash, p.start_at as start, p.end_at as end,
       p.heading_path, p.locator, c.text
from chunk_place p
join chunk c on c.organization_id = p.organization_id and c.source_id = p.source_id and c.id = p.chunk_id
where p.organization_id = %(organization)s and p.source_id = %(source)s and p.ordinal > %(after)s
order by p.ordinal limit %(limit)s

-- name: events
-- A page of what became of a source.
select id, revision, type, data, occurred_at, published_at
from source_event
where organization_id = %(organization)s and source_id = %(source)s
  and (%(after_time)s::timestamptz is null or (occurred_at, id) > (%(after_time)s, %(after)s::uuid))
order by occurred_at, id limit %(limit)s

-- name: usage
-- What embedding cost, by day (UTC) and space.
select (occurred_at at time zone 'utc')::date as day, space, sum(chunks)::bigint as chunks,
       sum(reused_chunks)::bigint as reused_chunks, sum(tokens)::bigint as tokens,
       sum(cost_micros)::float8 / 1000000 as cost_dollars
from embedding_usage
where organization_id = %(organization)s
  and occurred_at >= %(since)s::date::timestamp at time zone 'utc'
  and occurred_at < (%(until)s::date + 1)::timestamp at time zone 'utc'
group by 1, 2 order by 1, 2

-- name: taken
-- Whether intake has taken an event, and whether the source that it names is there.
select exists (select from taken_event
               where organization_id = %(organization)s and event_source = %(event_source)s and event_id = %(event_id)s),
       exists (select from knowledge_source where organization_id = %(organization)s and id = %(source)s)
