-- What was searched and what was answered, and how often each source was part of an answer.

-- Written by the query service beside its answers. A partition is a month (UTC), so that old ones go at once.
create table query_log (
    organization_id     uuid not null,                -- whose principal asked
    id                  uuid not null,
    occurred_at         timestamptz not null,
    query               text,                         -- null where texts are not to be kept
    k                   smallint not null,
    mode                text not null,
    fusion              text not null,
    space               text,                         -- null: the vector arm took no part
    degraded            text,                         -- code
    filters             jsonb not null,
    chunk_ids           uuid[] not null,              -- best first; the arrays that follow are parallel to it
    source_ids          uuid[] not null,
    scores              float8[] not null,
    cosines             float8[] not null,
    bm25                float8[] not null,
    vector_ranks        integer[] not null,           -- null: not among the arm's best
    keyword_ranks       integer[] not null,
    took_ms             float8 not null,
    role                text not null,
    audience            text not null,
    profile_id          uuid,
    api_key_id          uuid,
    message_id          text,                         -- the caller's name for what the search was for
    primary key (organization_id, occurred_at, id)
) partition by range (occurred_at);

-- Searches of a day (UTC) whose answers held a chunk of the source, whoever asked. Some weeks are kept.
create table source_usage (
    organization_id     uuid not null,                -- whose source it is
    source_id           uuid not null,
    day                 date not null,
    times               integer not null,
    primary key (organization_id, source_id, day)
) with (fillfactor = 70);                             -- today's rows change often, and stay on their pages
create index source_usage_day on source_usage (day);

select protect_tenants('query_log'), protect_tenants('source_usage');
grant insert on query_log to kb_query;
grant insert, update on source_usage to kb_query;

-- How many searches of the last 30 days had a chunk of the source in their answers.
create function recent_uses(organization uuid, source uuid) returns integer
    language sql stable parallel safe
    return (
        select coalesce(sum(u.times), 0)::integer from source_usage u
        where u.organization_id = organization and u.source_id = source
          and u.day > (now() at time zone 'utc')::date - 30);

-- Gives the number of partitions that were missing, of this month and some after it.
-- Attaching locks out neither readers nor writers, as making a partition in its place would.
create function ensure_query_log_partitions(months integer) returns integer
    language plpgsql security definer
    set search_path from current
    set timezone = 'UTC'
    set lock_timeout = '2s'
as $$
declare
    first_day timestamptz;
    partition text;
    made integer := 0;
begin
    perform pg_advisory_xact_lock(hashtext('query_log_partitions'));
    for first_day in
        select generate_series(date_trunc('month', now()), date_trunc('month', now()) + make_interval(months => months),
                               interval '1 month')
    loop
        partition := 'query_log_' || to_char(first_day, 'YYYY_MM');
        continue when to_regclass(quote_ident(partition)) is not null;
        execute format('create table %I (like query_log including all)', partition);
        -- No policy and no grant: a partition is reached by way of the whole table, under its policy.
        execute format('alter table %I enable row level security', partition);
        execute format('alter table %I force row level security', partition);
        execute format('alter table query_log attach partition %I for values from (%L) to (%L)',
                       partition, first_day, first_day + interval '1 month');
        made := made + 1;
    end loop;
    return made;
end $$;

-- Drops the months that ended at least so many days ago. Gives their number.
create function drop_query_log_partitions(days integer) returns integer
    language plpgsql security definer
    set search_path from current
    set timezone = 'UTC'
    set lock_timeout = '2s'
as $$
declare
    partition text;
    dropped integer := 0;
begin
    perform pg_advisory_xact_lock(hashtext('query_log_partitions'));
    for partition in
        select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
        where i.inhparent = 'query_log'::regclass
          and to_date(right(c.relname, 7), 'YYYY_MM') + interval '1 month' <= now() - make_interval(days => days)
    loop
        execute format('drop table %I', partition);
        dropped := dropped + 1;
    end loop;
    return dropped;
end $$;

revoke execute on function ensure_query_log_partitions(integer), drop_query_log_partitions(integer) from public;
grant execute on function ensure_query_log_partitions(integer), drop_query_log_partitions(integer) to kb_pipeline;

select ensure_query_log_partitions(2);
