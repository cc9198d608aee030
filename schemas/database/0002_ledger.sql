-- The ledger: one row a source. A row is work when due_at has come.

create table knowledge_source (
    organization_id    uuid not null,
    id                 uuid not null,
    knowledge_base_id  uuid not null,
    kind               text not null check (kind in ('url', 'file', 'text')),
    url                text,
    external_id        text,
    source_type        text not null default 'mixed',
    title              text,                          -- as given
    document_title     text,                          -- as found in the document
    description        text,
    metadata           jsonb not null default '{}',
    is_public          boolean not null default true,
    language           text,                          -- as given: ISO 639-1
    document_language  text,                          -- as found in the document

    body_key           text,                          -- of a text or file: where its body lies
    filename           text,
    media_type         text,

    status             text not null default 'pending'
        check (status in ('pending', 'ingesting', 'ready', 'failed', 'deleted')),
    stage              text check (stage in ('queued', 'fetching', 'chunking', 'embedding', 'indexing')),
    priority           smallint not null default 1,   -- 0 by hand, 1 by event, 2 promoted, 3 scheduled
    due_at             timestamptz,                   -- null: nothing to do. While ingesting: the end of the lease
    attempts           smallint not null default 0,   -- failures of this revision that were worth another try
    lapses             smallint not null default 0,   -- leases that ran out one after the other without progress
    error_code         text,
    error_reason       text,

    revision           bigint not null default 1,
    live_revision      bigint,                        -- what searches see
    kept_revision      bigint,                        -- the live revision that the kept structures of search hold
    -- Order among the publisher's wishes, for the content and for each field around it: an older one changes nothing.
    wish_revision      bigint,                        -- the publisher's count, of the last wish about the content
    wish_time          timestamptz not null,          -- the publisher's time of it
    refresh_revision   bigint,                        -- the same of the last wish to read it again: it may come before
    refresh_time       timestamptz,                   -- the wish that names the content
    field_orders       jsonb not null default '{}',   -- the same of the last wish about each field around the content
    promoted_at        timestamptz,                   -- when an agent's fetch brought it in
    parent_id          uuid,                          -- the start of the crawl that brought it in, and whose it is

    fetched_url        text,                          -- where the live body came from in the end
    body_hash          text,                          -- of the live body
    recipe             text,                          -- how the live chunks were made: chunker, preset, space
    words_prefix       text,                          -- MD5 of title, description and language that the words were made with
    etag               text,
    last_modified      text,
    chunk_count        integer not null default 0,
    token_count        integer not null default 0,
    created_at         timestamptz not null default now(),
    updated_at         timestamptz not null default now(),
    last_fetched_at    timestamptz,
    ready_at           timestamptz,
    archived_at        timestamptz,
    vanished_at        timestamptz,                   -- when its crawl archived it, because it was gone
    deleted_at         timestamptz,                   -- a tombstone: keeps the revision, so that old work stays fenced

    primary key (organization_id, id),
    foreign key (organization_id, knowledge_base_id) references knowledge_base
) with (fillfactor = 70);                             -- room for the stage to change in place

-- Archived sources wait, but can be removed; those that a crawl archived are looked at again when it is refreshed.
create index knowledge_source_due on knowledge_source (due_at)
    where due_at is not null and (archived_at is null or vanished_at is not null or deleted_at is not null);
create index knowledge_source_turn on knowledge_source (organization_id, priority, due_at, id)
    where due_at is not null and (archived_at is null or vanished_at is not null or deleted_at is not null);
create index knowledge_source_in_flight on knowledge_source (organization_id) where status = 'ingesting';
create index knowledge_source_base on knowledge_source (organization_id, knowledge_base_id, id);

create index knowledge_source_parent on knowledge_source (organization_id, parent_id, id) where parent_id is not null;
create index knowledge_source_page_under_way on knowledge_source (organization_id, parent_id)
    where parent_id is not null and status in ('pending', 'ingesting');
create index knowledge_source_url on knowledge_source (organization_id, knowledge_base_id, md5(url)) where kind = 'url';
create index knowledge_source_promoted on knowledge_source (organization_id, promoted_at) where promoted_at is not null;

-- Pages of a crawl are refreshed with its start alone, never by a schedule of their own.
create function without_schedule() returns trigger
    language plpgsql as $$
begin
    new.due_at := null;
    return new;
end $$;
create trigger knowledge_source_without_schedule before update on knowledge_source for each row
    when (new.parent_id is not null and new.deleted_at is null and new.status in ('ready', 'failed')
          and new.due_at is not null)
    execute function without_schedule();

-- A source whose site comes with it. Its row is locked by whoever adds pages or links, and by who ends the crawl.
create table crawl (
    organization_id   uuid not null,
    root_id           uuid not null,
    max_pages         integer not null,
    depth             integer not null,
    prefix            text,                           -- as wished
    final_url         text,                           -- where the start's page came from in the end
    priority          smallint not null default 1,    -- of pages that are found
    begun_revision    bigint,                         -- of the start, whose fetch set the refresh of all pages off
    settled_revision  bigint,                         -- the same, when the last page had come
    doubted_revision  bigint,                         -- the same, where it left most pages out, if it was the last
    primary key (organization_id, root_id),
    foreign key (organization_id, root_id) references knowledge_source on delete cascade
);
create index crawl_unsettled on crawl (organization_id, root_id) where settled_revision is distinct from begun_revision;

-- Every address in scope that a crawl has found. Which of them are sources, `knowledge_source` says.
create table crawl_page (
    organization_id  uuid not null,
    root_id          uuid not null,
    page_id          uuid not null,
    number           bigint generated always as identity, -- in the order in which they were found
    url              text not null,
    depth            integer not null,                -- links from the start, as far as they are known
    seen             text check (seen in ('there', 'refused', 'duplicate', 'gone', 'unlisted')),
    seen_revision    bigint,                          -- of the start
    duplicate_of     uuid,
    body_hash        text,                            -- of the body whose links are kept
    primary key (organization_id, root_id, page_id),
    foreign key (organization_id, root_id) references crawl on delete cascade
) with (fillfactor = 70);
create index crawl_page_page on crawl_page (organization_id, page_id);

create table crawl_link (
    organization_id  uuid not null,
    root_id          uuid not null,
    page_id          uuid not null,                   -- the start's own, where it is in a sitemap
    target_id        uuid not null,
    in_sitemap       boolean not null,
    primary key (organization_id, root_id, page_id, target_id, in_sitemap),
    foreign key (organization_id, root_id) references crawl on delete cascade
);

-- Whether a page of the crawl is on its way, or a source of its own that has not yet told the crawl what it leads to.
create function is_crawl_under_way(organization uuid, root uuid) returns boolean
    language sql stable parallel safe
    return exists (
            select from knowledge_source s
            where s.organization_id = organization and s.parent_id = root and s.status in ('pending', 'ingesting')
              and s.deleted_at is null and (s.archived_at is null or s.vanished_at is not null))
        or exists (
            select from crawl_page p
            join knowledge_source s on s.organization_id = p.organization_id and s.id = p.page_id
            where p.organization_id = organization and p.root_id = root and p.seen_revision is null
              and s.status in ('pending', 'ingesting') and s.deleted_at is null and s.archived_at is null);

-- What a crawl is to do, and how far it is; null for a source that starts none.
create function crawl_of(organization uuid, source uuid) returns jsonb
    language sql stable parallel safe
    return (
        select jsonb_build_object(
            'max_pages', c.max_pages, 'depth', c.depth, 'prefix', c.prefix, 'pages', count(*),
            'ready', count(*) filter (where s.status = 'ready'), 'failed', count(*) filter (where s.status = 'failed'),
            'pending', count(*) filter (where s.status in ('pending', 'ingesting')),
            'is_settled', coalesce(bool_or(s.id = source and s.revision = c.settled_revision), false))
        from crawl c
        join knowledge_source s on s.organization_id = c.organization_id and s.deleted_at is null
            and (s.id = c.root_id or (s.parent_id = c.root_id and s.archived_at is null))
        where c.organization_id = organization and c.root_id = source
        group by c.organization_id, c.root_id);

-- A publisher's wish is newer than the one before it: by its count where both have one, else by its time.
create function is_newer(revision bigint, at timestamptz, than_revision bigint, than_at timestamptz) returns boolean
    language sql immutable parallel safe
    return case when revision is not null and than_revision is not null
                then revision > than_revision else at >= than_at end;

create function is_newer_field(orders jsonb, field text, revision bigint, at timestamptz) returns boolean
    language sql stable parallel safe
    return orders -> field is null
        or is_newer(revision, at, (orders -> field ->> 'revision')::bigint, (orders -> field ->> 'time')::timestamptz);

-- The orders after a wish about some fields.
create function ordered_fields(orders jsonb, fields text[], revision bigint, at timestamptz) returns jsonb
    language sql stable parallel safe
    return orders || (
        select coalesce(jsonb_object_agg(f, jsonb_build_object('revision', revision, 'time', at)), '{}')
        from unnest(fields) f where is_newer_field(orders, f, revision, at));

-- What stands in front of each chunk for search by keyword.
create function words_prefix_of(title text, description text, language text) returns text
    language sql immutable parallel safe
    return md5(coalesce(title, '') || chr(31) || coalesce(description, '') || chr(31) || coalesce(language, ''));

-- Sources whose chunks hold the words of an old title: few, and for a moment.
create index knowledge_source_old_words on knowledge_source (organization_id, id)
    where live_revision is not null and deleted_at is null
      and words_prefix is distinct from words_prefix_of(title, description, coalesce(language, document_language));

-- Ids of upstream events that were taken, written with the wish in one transaction.
create table taken_event (
    organization_id  uuid not null,
    event_source     text not null,
    event_id         text not null,
    taken_at         timestamptz not null default now(),
    primary key (organization_id, event_source, event_id)
);
create index taken_event_age on taken_event using brin (taken_at);

-- What became of sources, in order. Rows with published_at null are still to be told to upstream.
create table source_event (
    organization_id  uuid not null,
    id               uuid not null,
    source_id        uuid not null,
    revision         bigint not null,
    type             text not null,
    data             jsonb not null,
    occurred_at      timestamptz not null default clock_timestamp(),
    published_at     timestamptz,
    primary key (organization_id, source_id, id)
);
create index source_event_unpublished on source_event (occurred_at) where published_at is null;

-- Stages that wait for a dependency. While one does, leases of sources in it do not run out.
create table stage_pause (
    stage       text not null,
    instance    text not null,
    code        text not null,
    reason      text not null,
    since       timestamptz not null default now(),
    expires_at  timestamptz not null,
    primary key (stage, instance)
);

-- What embedding cost: once for each revision, batch and space, however often the batch is delivered.
create table embedding_usage (
    organization_id  uuid not null,
    source_id        uuid not null,
    revision         bigint not null,
    space            text not null,
    batch            integer not null,
    body_hash        text not null,
    recipe           text not null,                   -- how the chunks were cut
    chunks           integer not null,                -- embedded by the provider
    reused_chunks    integer not null,                -- whose vectors were there
    tokens           integer not null,                -- sent to the provider
    cost_micros      bigint not null,                 -- millionths of a dollar
    occurred_at      timestamptz not null default now(),
    primary key (organization_id, source_id, revision, space, batch, body_hash, recipe)
);
create index embedding_usage_day on embedding_usage (organization_id, occurred_at);
