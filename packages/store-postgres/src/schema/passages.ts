import { ofSession } from './matches.ts'

/**
 * Passages, which recall finds by their terms: digests under the key of the owner in `scopes`. They move and are deleted with their session.
 */
export const passages = `
create table {s}.scopes (
  tenant text collate "C" not null,
  owner text collate "C" not null,
  key bytea not null,
  primary key (tenant, owner)
);

create table {s}.passages (
  n bigint generated always as identity primary key,
  tenant text collate "C" not null,
  owner text collate "C" not null,
  agent text collate "C" not null,
  session text collate "C" not null,
  position integer not null,
  idx integer not null,
  seq integer not null,
  role text not null,
  author text collate "C" not null,
  at double precision not null,
  words integer not null,
  flow smallint not null,
  terms bigint[] not null,
  counts smallint[] not null,
  foreign key (tenant, owner, agent, session) references {s}.sessions (tenant, owner, agent, id)
    on update cascade on delete cascade
);
create index passages_by_place on {s}.passages (tenant, owner, agent, session, position);
create index passages_by_term on {s}.passages using gin (terms);

-- Returns the key of an owner, and makes it if one is given. Without a token, the data of the owner were erased since the run began.
create function {s}.scope_key(
  _tenant text, _owner text, _key bytea, _lease bigint, _began double precision, out token_ bigint, out key_ bytea
) language plpgsql as $$
begin
  token_ := {s}.writer_token(_tenant, _owner, null, null, _lease, _began);
  if token_ is null then return; end if;
  if _key is not null then
    insert into {s}.scopes values (_tenant, _owner, _key) on conflict do nothing;
  end if;
  select key into key_ from {s}.scopes where tenant = _tenant and owner = _owner;
end $$;

-- Replaces the passages of a session from a message on. Each new one is a list in the order of the columns.
create function {s}.replace_passages(
  _tenant text, _owner text, _session_agent text, _session text, _seq integer, _start integer, _passages jsonb
) returns void language plpgsql as $$
declare
  _last integer;
begin
  select coalesce(max(position), -1) into _last from {s}.passages where ${ofSession};
  if _last >= 0 then
    _last := coalesce((
      select position from {s}.passages where ${ofSession} and idx < _start order by position desc limit 1
    ), -1);
    delete from {s}.passages where ${ofSession} and position > _last;
  end if;
  if _passages is null then return; end if;
  insert into {s}.passages (tenant, owner, agent, session, position, idx, seq, role, author, at, words, flow, terms, counts)
    select _tenant, _owner, _session_agent, _session, _last + i, (p ->> 0)::integer, _seq, p ->> 1, p ->> 2,
      (p ->> 3)::double precision, (p ->> 4)::integer, (p ->> 5)::smallint,
      array(select t::bigint from jsonb_array_elements_text(p -> 6) t), array(select c::smallint from jsonb_array_elements_text(p -> 7) c)
    from jsonb_array_elements(_passages) with ordinality as a (p, i) order by i;
end $$;
`
