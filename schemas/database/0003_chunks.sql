-- Chunks, what is searched of them, and the batches of revisions that are not complete.
--
-- The text of a chunk never changes, so a row that stays is not written again when its place moves.
-- Places, words and vectors are narrow tables of their own: each is scanned alone.

create table chunk (
    organization_id  uuid not null,
    source_id        uuid not null,
    id               uuid not null,
    content_hash     bytea not null,                  -- SHA-256 of the text
    token_count      integer not null,
    text             text not null,
    primary key (organization_id, source_id, id)
);
create index chunk_content on chunk (organization_id, content_hash);  -- a text that has a vector is not embedded again

create table chunk_place (
    organization_id  uuid not null,
    source_id        uuid not null,
    chunk_id         uuid not null,
    ordinal          integer not null,
    start_at         integer not null,                -- characters of the stored text
    end_at           integer not null,
    heading_path     text[] not null,
    locator          jsonb not null,
    primary key (organization_id, source_id, chunk_id)
);

create table chunk_words (
    organization_id  uuid not null,
    source_id        uuid not null,
    chunk_id         uuid not null,
    words            tsvector not null,               -- of title, description and text, see schemas/words.py
    primary key (organization_id, source_id, chunk_id)
) with (toast_tuple_target = 8160);                   -- keeps the vectors in the row, uncompressed
alter table chunk_words alter column words set storage main;
create index chunk_words_words on chunk_words using gin (organization_id, words);

-- The stemmer of a language (ISO 639-1). Where it is not known English is likeliest; one without a stemmer is not stemmed.
create function stemmer_of(language text) returns regconfig
    language sql immutable parallel safe
    return case coalesce(language, 'en')
        when 'ar' then 'arabic' when 'ca' then 'catalan' when 'da' then 'danish' when 'de' then 'german'
        when 'el' then 'greek' when 'en' then 'english' when 'es' then 'spanish' when 'eu' then 'basque'
        when 'fi' then 'finnish' when 'fr' then 'french' when 'ga' then 'irish' when 'hi' then 'hindi'
        when 'hu' then 'hungarian' when 'hy' then 'armenian' when 'id' then 'indonesian' when 'it' then 'italian'
        when 'ja' then 'english' when 'ko' then 'english' when 'lt' then 'lithuanian' when 'ne' then 'nepali'
        when 'nl' then 'dutch' when 'no' then 'norwegian' when 'pt' then 'portuguese' when 'ro' then 'romanian'
        when 'ru' then 'russian' when 'sr' then 'serbian' when 'sv' then 'swedish' when 'ta' then 'tamil'
        when 'th' then 'english' when 'tr' then 'turkish' when 'yi' then 'yiddish' when 'zh' then 'english'
        else 'simple' end::regconfig;

-- The words of a text that was cut by schemas/words.py.
create function words_of(language text, prose text, verbatim text) returns tsvector
    language sql immutable parallel safe
    return to_tsvector(stemmer_of(language), prose) || verbatim::tsvector;

create table embedding_space (
    id          smallint generated always as identity primary key,
    name        text not null unique,
    dimensions  integer not null check (dimensions between 1 and 4000),
    is_current  boolean not null default false,       -- new revisions are embedded in it
    mean        real[],                               -- of its vectors, once there are many; then it stays
    created_at  timestamptz not null default now()
);

create unique index embedding_space_current on embedding_space (is_current) where is_current;

create table revision_batch (
    organization_id  uuid not null,
    source_id        uuid not null,
    revision         bigint not null,
    body_hash        text not null,
    recipe           text not null,                   -- how the chunks were made: batches of two ways do not mix
    batch            integer not null,
    payload          bytea not null,                  -- the event's data, as it came
    received_at      timestamptz not null default now(),
    primary key (organization_id, source_id, revision, body_hash, recipe, batch)
);
alter table revision_batch alter column payload set storage external;

-- Each embedding space has its table of vectors: fixed dimensions, indexes of its own, rows of few bytes around the vector.
create function register_space(wanted text, length integer) returns smallint
    language plpgsql security definer set search_path from current as $$
declare
    space embedding_space;
begin
    select * into space from embedding_space where name = wanted;
    if not found then
        -- Two services may register at the same moment.
        perform pg_advisory_xact_lock(hashtext('register_space'));
        select * into space from embedding_space where name = wanted;
    end if;
    if space.id is null then
        insert into embedding_space (name, dimensions) values (wanted, length) returning * into space;
        execute format(
            'create table chunk_vector_%s (
                organization_id uuid not null,
                source_id uuid not null,
                chunk_id uuid not null,
                embedding halfvec(%s) not null,
                primary key (organization_id, source_id, chunk_id))', space.id, length);
        execute format('alter table chunk_vector_%s alter column embedding set storage plain', space.id);
        perform protect_tenants(format('chunk_vector_%s', space.id));
        -- Its owner can build indexes of it while it is written.
        execute format('alter table chunk_vector_%s owner to kb_pipeline', space.id);
        -- Of large organizations: the signs of the vectors less the space's mean.
        execute format(
            'create table chunk_signs_%s (
                organization_id uuid not null,
                source_id uuid not null,
                chunk_id uuid not null,
                signs bit(%s) not null,
                primary key (organization_id, source_id, chunk_id) include (signs))', space.id, length);
        perform protect_tenants(format('chunk_signs_%s', space.id));
        -- Of large organizations: some vectors, whose cosines tell how those of all are spread.
        execute format(
            'create table vector_sample_%s (
                organization_id uuid not null,
                ordinal integer not null,
                embedding halfvec(%s) not null,
                primary key (organization_id, ordinal))', space.id, length);
        execute format('alter table vector_sample_%s alter column embedding set storage plain', space.id);
        perform protect_tenants(format('vector_sample_%s', space.id));
    elsif space.dimensions <> length then
        raise exception 'space % has % dimensions, not %', wanted, space.dimensions, length using errcode = 'KB001';
    end if;
    return space.id;
end $$;

-- From now on new revisions are embedded in this space, or in none.
create function use_space(wanted text) returns void
    language plpgsql security definer set search_path from current as $$
begin
    perform pg_advisory_xact_lock(hashtext('register_space'));
    update embedding_space set is_current = false where is_current and name is distinct from wanted;
    update embedding_space set is_current = true where name = wanted and not is_current;
end $$;
