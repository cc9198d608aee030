-- What the searches of large organizations are planned by. The indexer's upkeep makes it; of small ones there is nothing.
--
-- A source is covered where its live revision is its kept revision. Searches read those that are not covered in full, so
-- what is newer than the last upkeep is found all the same. All of it is of one organization each: statistics that were
-- shared would tell of others' content.

create table word_statistics (
    organization_id  uuid primary key,
    chunks           integer not null,
    average_length   real not null,                   -- different lexemes of a chunk
    merged           integer not null default 0,      -- chunks that came since: they are in the lists, but not counted
    refreshed_at     timestamptz not null
);

create table word_frequency (
    organization_id  uuid not null,
    lexeme           text not null collate "C",
    chunks           integer not null,                -- that hold the lexeme
    primary key (organization_id, lexeme)
);

-- The chunks for which a common lexeme counts most, so that a search for common words needs not read all that hold them.
create table word_top (
    organization_id  uuid not null,
    lexeme           text not null collate "C",
    sources          uuid[] not null,
    chunks           uuid[] not null,                 -- best first
    impacts          real[] not null,
    rest             real not null,                   -- the most that it counts in a chunk that is not listed
    primary key (organization_id, lexeme)
);

select protect_tenants(t) from unnest(array['word_statistics', 'word_frequency', 'word_top']) t;

-- The lexeme's part of BM25 (k1 1.2, b 0.75) without its weight, 0 to 1: `times` in a chunk of `length` lexemes.
create function impact(times float8, length float8, average_length float8) returns float8
    language sql immutable parallel safe
    return times / (times + 1.2 * (0.25 + 0.75 * length / average_length));

-- Lexemes of few chunks are not kept: counting those when they are asked for is as quick. What more chunks than
-- top_least hold has a list of the best, of which there are top_length at least.
create type upkeep_bounds as (rare integer, top_least integer, top_length integer, sample integer);
create function upkeep_sizes() returns upkeep_bounds
    language sql immutable parallel safe
    return row(20, 200, 500, 128)::upkeep_bounds;

-- Counts an organization's words anew. Searches meanwhile read the old counts.
create function refresh_word_statistics(organization uuid) returns void
    language plpgsql as $$
declare
    sizes constant upkeep_bounds := upkeep_sizes();
    size integer;
    average real;
begin
    select count(*), coalesce(avg(length(words)), 1) into size, average
    from chunk_words where organization_id = organization;
    delete from word_frequency where organization_id = organization;
    insert into word_frequency (organization_id, lexeme, chunks)
    select organization, word, ndoc
    from ts_stat(format('select words from chunk_words where organization_id = %L', organization))
    where ndoc > sizes.rare;
    insert into word_statistics as w (organization_id, chunks, average_length, refreshed_at)
    values (organization, size, average, now())
    on conflict (organization_id) do update
    set chunks = excluded.chunks, average_length = excluded.average_length, merged = 0,
        refreshed_at = excluded.refreshed_at;
end $$;

-- How many chunks are listed of a lexeme: the more hold it, the less is a chunk's place among them worth beside another
-- lexeme's.
create function list_length(frequency integer) returns integer
    language sql immutable parallel safe
    return greatest((upkeep_sizes()).top_length, frequency / 16);

-- What each lexeme that is kept as common counts in chunks of the organization; `part` of 256 parts of the chunks.
create function common_impacts(organization uuid, part integer)
    returns table (lexeme text, frequency integer, source_id uuid, chunk_id uuid, impact real)
    language sql stable
    begin atomic
        select f.lexeme, f.chunks, w.source_id, w.chunk_id,
               impact(coalesce(array_length(l.positions, 1), 1), length(w.words), s.average_length)::real
        from word_statistics s
        join chunk_words w on w.organization_id = s.organization_id and get_byte(uuid_send(w.chunk_id), 7) < part
        cross join lateral unnest(w.words) l
        join word_frequency f on f.organization_id = s.organization_id and f.lexeme = l.lexeme
        where s.organization_id = organization and f.chunks > (upkeep_sizes()).top_least;
    end;

-- Lists the best chunks of each common lexeme anew. A part of the chunks tells how much a lexeme has to count to be among
-- the best, so that few of all its chunks have to be sorted. What was counted a moment ago the planner takes for nothing,
-- and would join by loops.
create function refresh_word_tops(organization uuid) returns void
    language plpgsql set enable_nestloop = off as $$
declare
    part integer;
begin
    delete from word_top where organization_id = organization;
    perform set_config('work_mem', '128MB', true);
    select least(256, 1 + 256 * 4000 / greatest(chunks, 1)) into part
    from word_statistics where organization_id = organization;
    with bound as materialized (
        select lexeme, percentile_disc(greatest(0, 1 - 1.5 * list_length(frequency)::float8 / frequency))
                           within group (order by impact) as least
        from common_impacts(organization, part) group by lexeme, frequency
    ), ranked as (
        select c.*, row_number() over (partition by c.lexeme order by c.impact desc, c.chunk_id) as place
        from common_impacts(organization, 256) c join bound b on b.lexeme = c.lexeme and c.impact >= b.least
    )
    insert into word_top (organization_id, lexeme, sources, chunks, impacts, rest)
    select organization, lexeme, array_agg(source_id order by place), array_agg(chunk_id order by place),
           array_agg(impact order by place), case when max(frequency) > count(*) then min(impact) else 0 end
    from ranked where place <= list_length(frequency) group by lexeme;
end $$;

-- Puts the chunks of sources into the lists of common lexemes; how often those occur is left as it was counted.
create function merge_word_tops(organization uuid, fresh uuid[]) returns void
    language plpgsql set enable_nestloop = off as $$
begin
    with standing as (
        select l.lexeme, w.source_id, w.chunk_id,
               impact(coalesce(array_length(l.positions, 1), 1), length(w.words), s.average_length)::real as impact
        from word_statistics s
        join chunk_words w on w.organization_id = s.organization_id and w.source_id = any(fresh)
        cross join lateral unnest(w.words) l
        where s.organization_id = organization
          and l.lexeme in (select t.lexeme from word_top t where t.organization_id = organization)
    ), former as (
        select t.lexeme, o.source_id, o.chunk_id, o.impact
        from word_top t cross join lateral unnest(t.sources, t.chunks, t.impacts) as o (source_id, chunk_id, impact)
        where t.organization_id = organization and t.lexeme in (select lexeme from standing)
          and o.source_id <> all(fresh)
    ), ranked as (
        select t.*, row_number() over (partition by t.lexeme order by t.impact desc, t.chunk_id) as place,
               list_length(f.chunks) as length
        from (select * from standing union all select * from former) t
        join word_frequency f on f.organization_id = organization and f.lexeme = t.lexeme
    ), merged as (
        select lexeme, array_agg(source_id order by place) as sources, array_agg(chunk_id order by place) as chunks,
               array_agg(impact order by place) as impacts, max(length) as length,
               coalesce(max(impact) filter (where place > length), 0) as left_out
        from ranked group by lexeme
    )
    update word_top t
    set sources = m.sources[:m.length], chunks = m.chunks[:m.length], impacts = m.impacts[:m.length],
        rest = greatest(t.rest, m.left_out)
    from merged m where t.organization_id = organization and t.lexeme = m.lexeme;
end $$;

-- The mean of a space: of some thousand vectors, whosever they are. It never changes, since all signs depend on it.
create function settle_mean(space_id integer) returns void
    language plpgsql as $$
begin
    if exists (select from embedding_space where id = space_id and mean is null) then
        execute format(
            'update embedding_space set mean = (
                 select avg(embedding)::vector::real[] from (select embedding from chunk_vector_%s limit 5000) of_some)
             where id = $1 and mean is null', space_id) using space_id;
    end if;
end $$;

-- Signs of the vectors of sources that have none yet, or of all sources.
create function refresh_signs(organization uuid, space_id integer, fresh uuid[]) returns void
    language plpgsql as $$
begin
    perform settle_mean(space_id);
    execute format(
        'insert into chunk_signs_%1$s (organization_id, source_id, chunk_id, signs)
         select v.organization_id, v.source_id, v.chunk_id, binary_quantize(v.embedding - e.mean::halfvec)
         from chunk_vector_%1$s v join embedding_space e on e.id = $3
         where v.organization_id = $1 and v.source_id = any($2)
         on conflict do nothing', space_id) using organization, fresh, space_id;
end $$;

create function refresh_sample(organization uuid, space_id integer) returns void
    language plpgsql as $$
declare
    sizes constant upkeep_bounds := upkeep_sizes();
begin
    execute format('delete from vector_sample_%s where organization_id = $1', space_id) using organization;
    -- Ids are hashes, so those that are smallest are a fair choice.
    execute format(
        'insert into vector_sample_%1$s (organization_id, ordinal, embedding)
         select organization_id, row_number() over (), embedding
         from chunk_vector_%1$s where organization_id = $1 order by chunk_id limit $2', space_id)
    using organization, sizes.sample;
end $$;

-- Brings all that is kept of an organization up to date. `anew`: counts everything again, which a growth by a fifth or
-- so asks for; else only what is not covered is added. Gives the number of sources that were not covered.
create function refresh_upkeep(organization uuid, anew boolean) returns integer
    language plpgsql as $$
declare
    fresh uuid[];
    revisions bigint[];
    space integer;
begin
    perform pg_advisory_xact_lock(hashtext('refresh_upkeep'), hashtext(organization::text));
    -- Revisions that become live from here on stay uncovered, whatever of them is seen below.
    select coalesce(array_agg(s.id), '{}'), coalesce(array_agg(s.live_revision), '{}') into fresh, revisions
    from knowledge_source s
    where s.organization_id = organization and s.live_revision is not null
      and s.kept_revision is distinct from s.live_revision;
    if anew then
        perform refresh_word_statistics(organization);
        perform refresh_word_tops(organization);
    else
        perform merge_word_tops(organization, fresh);
        update word_statistics w set merged = w.merged + (
            select coalesce(sum(s.chunk_count), 0) from knowledge_source s
            where s.organization_id = organization and s.id = any(fresh))
        where w.organization_id = organization;
    end if;
    for space in select id from embedding_space order by id loop
        perform refresh_signs(organization, space, fresh);
        if anew then
            perform refresh_sample(organization, space);
        end if;
    end loop;
    -- Locked in the order in which a cut-over locks.
    with covered as (
        select s.id from knowledge_source s join unnest(fresh, revisions) as c (id, revision) on c.id = s.id
        where s.organization_id = organization and s.live_revision = c.revision
        order by s.id for no key update of s
    )
    update knowledge_source s set kept_revision = s.live_revision
    from covered where s.organization_id = organization and s.id = covered.id;
    return cardinality(fresh);
end $$;

-- Of an organization that has become small nothing is kept.
create function forget_upkeep(organization uuid) returns void
    language plpgsql as $$
declare
    space integer;
begin
    perform pg_advisory_xact_lock(hashtext('refresh_upkeep'), hashtext(organization::text));
    delete from word_statistics where organization_id = organization;
    delete from word_frequency where organization_id = organization;
    delete from word_top where organization_id = organization;
    for space in select id from embedding_space order by id loop
        execute format('delete from chunk_signs_%s where organization_id = $1', space) using organization;
        execute format('delete from vector_sample_%s where organization_id = $1', space) using organization;
    end loop;
    update knowledge_source set kept_revision = null where organization_id = organization and kept_revision is not null;
end $$;

revoke execute on function
    refresh_word_statistics(uuid), common_impacts(uuid, integer), refresh_word_tops(uuid), merge_word_tops(uuid, uuid[]), settle_mean(integer),
    refresh_signs(uuid, integer, uuid[]), refresh_sample(uuid, integer), refresh_upkeep(uuid, boolean), forget_upkeep(uuid) from public;
grant execute on function
    refresh_word_statistics(uuid), common_impacts(uuid, integer), refresh_word_tops(uuid), merge_word_tops(uuid, uuid[]), settle_mean(integer),
    refresh_signs(uuid, integer, uuid[]), refresh_sample(uuid, integer), refresh_upkeep(uuid, boolean), forget_upkeep(uuid) to kb_pipeline;
grant update (mean) on embedding_space to kb_pipeline;
