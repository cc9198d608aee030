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
    -- Order among the publisher's wishes, for the content and for each field around it: an older one changes nothing.
    wish_revision      bigint,                        -- the publisher's count, of the last wish about the content
    wish_time          timestamptz not null,          -- the publisher's time of it
    refresh_revision   bigint,                        -- the same of the last wish to read it again: it may come before
    refresh_time       timestamptz,                   -- the wish that names the content
    field_orders       jsonb not null default '{}',   -- the same of the last wish about each field around the content
    promoted_at        timestamptz,                   -- when an agent's fetch brought it in

    fetched_url        text,                          -- where the live body came from in the end
    body_hash          text,                          -- of the live body
    recipe             text,                          -- how the live chunks were made: chunker, preset, space
    words_prefix       text,                          -- MD5 of title and description as the words of the chunks hold them
    etag               text,
    last_modified      text,
    chunk_count        integer not null default 0,
    token_count        integer not null default 0,
    created_at         timestamptz not null default now(),
    updated_at         timestamptz not null default now(),
    last_fetched_at    timestamptz,
    ready_at           timestamptz,
    archived_at        timestamptz,
    deleted_at         timestamptz,                   -- a tombstone: keeps the revision, so that old work stays fenced

    primary key (organization_id, id),
    foreign key (organization_id, knowledge_base_id) references knowledge_base
) with (fillfactor = 70);                             -- room for the stage to change in place

-- Archived sources wait, but can be removed.
create index knowledge_source_due on knowledge_source (due_at)
    where due_at is not null and (archived_at is null or deleted_at is not null);
create index knowledge_source_turn on knowledge_source (organization_id, priority, due_at, id)
    where due_at is not null and (archived_at is null or deleted_at is not null);
create index knowledge_source_in_flight on knowledge_source (organization_id) where status = 'ingesting';
create index knowledge_source_base on knowledge_source (organization_id, knowledge_base_id, id);

create index knowledge_source_promoted on knowledge_source (organization_id, promoted_at) where promoted_at is not null;

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
create function words_prefix_of(title text, description text) returns text
    language sql immutable parallel safe
    return md5(coalesce(title, '') || chr(31) || coalesce(description, ''));

-- Sources whose chunks hold the words of an old title: few, and for a moment.
create index knowledge_source_old_words on knowledge_source (organization_id, id)
    where live_revision is not null and deleted_at is null
      and words_prefix is distinct from words_prefix_of(title, description);

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
