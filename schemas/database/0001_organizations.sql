-- Roles, organizations and knowledge bases.
--
-- kb_pipeline   services that work across organizations: fetcher, chunker, embedder, indexer. Passes row-level security.
-- kb_query      the query service: sees only the organization that the transaction names.
-- Both are groups: the login of a service is a member of one of them.

do $$
begin
    if not exists (select from pg_roles where rolname = 'kb_pipeline') then
        create role kb_pipeline nologin bypassrls;
    end if;
    if not exists (select from pg_roles where rolname = 'kb_query') then
        create role kb_query nologin;
    end if;
end $$;

-- Owns the functions that searches run, and the tables of vectors, whose indexes it builds.
grant create on schema public to kb_pipeline;

create extension if not exists btree_gin;
do $$
begin
    -- Without pgvector the system stands, and search answers that it can't: `kb check` says W002.
    if exists (select from pg_available_extensions where name = 'vector') then
        create extension if not exists vector;
    end if;
end $$;

-- The organization of the transaction. A missing setting is an error, neither nothing nor everything.
create function current_organization() returns uuid
    language sql stable parallel safe
    return current_setting('app.organization_id')::uuid;

create table organization (
    id          uuid primary key,
    slug        text not null unique,
    name        text not null,
    plan        text not null default 'standard',
    settings    jsonb not null default '{}',          -- quotas and choices that differ from the installation's
    created_at  timestamptz not null default now()
);

create table knowledge_base (
    organization_id   uuid not null references organization,
    id                uuid not null,
    name              text not null,
    scope             text not null default 'account' check (scope in ('user', 'account', 'public')),
    owner_profile_id  uuid,                           -- of scope user: the only reader
    source_type       text not null default 'mixed'
        check (source_type in ('upload', 'gdrive', 'notion', 'creative_ingest', 'automation', 'mixed')),
    preset            text not null default 'default',
    time_to_live      interval,                       -- of its sources: fetched again after it
    is_default        boolean not null default false,
    created_at        timestamptz not null default now(),
    primary key (organization_id, id),
    check (scope <> 'user' or owner_profile_id is not null)
);
create unique index knowledge_base_default on knowledge_base (organization_id) where is_default;

create table api_key (
    organization_id  uuid not null references organization,
    id               uuid not null,
    name             text not null,
    prefix           text not null,                   -- shown in lists, so that a key can be recognised
    hash             bytea not null unique,           -- SHA-256 of the whole key
    role             text not null default 'member' check (role in ('agent', 'member', 'admin', 'staff')),
    profile_id       uuid,
    created_at       timestamptz not null default now(),
    last_used_at     timestamptz,
    revoked_at       timestamptz,
    primary key (organization_id, id)
);

-- An organization that is heard of for the first time gets its row and its default knowledge base.
create function ensure_organization(wanted uuid, default_base uuid) returns void
    language plpgsql as $$
begin
    if exists (select from knowledge_base where organization_id = wanted and id = default_base) then
        return;
    end if;
    insert into organization (id, slug, name) values (wanted, wanted::text, wanted::text) on conflict do nothing;
    insert into knowledge_base (organization_id, id, name, is_default) values (wanted, default_base, 'Default', true)
    on conflict do nothing;
end $$;
