-- Who may see what, and the row that a new organization begins with.

-- Knowledge bases, and sources in whatever state, that a reader may know of. services/query/access.py makes the
-- arguments. Whatever shows or searches sources begins here, and can only narrow it.
--   profile           a knowledge base of scope user is its owner's alone
--   sees_unpublished  also what is not public yet
--   is_guest          comes from another organization: public knowledge bases alone
create function readable_knowledge_base(organization uuid, profile uuid, is_guest boolean) returns setof knowledge_base
    language sql stable parallel safe as $$
        select b.* from knowledge_base b
        where b.organization_id = organization
          and case b.scope when 'public' then true
                           when 'account' then not is_guest
                           else not is_guest and b.owner_profile_id = profile end
$$;

create function readable_source(organization uuid, profile uuid, sees_unpublished boolean, is_guest boolean)
    returns setof knowledge_source
    language sql stable parallel safe as $$
        select s.* from knowledge_source s
        join readable_knowledge_base(organization, profile, is_guest) b
          on b.organization_id = s.organization_id and b.id = s.knowledge_base_id
        where s.organization_id = organization and s.deleted_at is null
          and (s.is_public or (sees_unpublished and not is_guest))
$$;

-- An organization that was never heard of gets its row and its default knowledge base before its first own request.
create function ensure_current_organization(default_base uuid) returns void
    language sql security definer set search_path = public, pg_temp
    begin atomic
        select ensure_organization(current_organization(), default_base);
    end;
alter function ensure_current_organization(uuid) owner to kb_pipeline;
revoke execute on function ensure_current_organization(uuid) from public;
grant execute on function ensure_current_organization(uuid) to kb_query;
