import { ofSession, sessionMatches } from './matches.ts'

/** The key of the lock of a switch. */
const lockOf = (owner: string) => `hashtextextended('{s}.memory ' || to_json(array[_tenant, ${owner}])::text, 0)`

/**
 * Passages, which recall finds by their terms: digests under the key of the owner in `scopes`. They move and are deleted with their session.
 * `off` is since when memory is off, for a person, or for a tenant where the owner is empty.
 */
export const passages = `
create table {s}.scopes (
  tenant text collate "C" not null,
  owner text collate "C" not null,
  key bytea,
  off double precision,
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

create table {s}.passage_vectors (
  n bigint primary key references {s}.passages on delete cascade,
  model text collate "C" not null,
  vector bytea not null
);

-- Whether memory is off, which does not concern documents. Turns that are being stored hold the lock, and a switch waits for them.
create function {s}.memory_is_off(_tenant text, _owner text, _agent text) returns boolean language plpgsql as $$
begin
  if _agent like 'memory:documents/%' then return false; end if;
  perform pg_advisory_xact_lock_shared(${lockOf("''")});
  perform pg_advisory_xact_lock_shared(${lockOf('_owner')});
  return exists (select from {s}.scopes where tenant = _tenant and owner in (_owner, '') and off is not null);
end $$;

-- Switches memory off or on. Returns false if the data of the owner were erased since the request began.
create function {s}.set_memory_off(
  _tenant text, _owner text, _off double precision, _is_fenced boolean, _lease bigint, _began double precision
) returns boolean language plpgsql as $$
begin
  if _is_fenced and {s}.writer_token(_tenant, _owner, null, null, _lease, _began) is null then return false; end if;
  perform pg_advisory_xact_lock(${lockOf('_owner')});
  insert into {s}.scopes (tenant, owner, off) values (_tenant, _owner, _off) on conflict (tenant, owner) do update set off = excluded.off;
  return true;
end $$;

-- Returns the key of an owner, and makes it if one is given. Without a token, the data of the owner were erased since the run began.
create function {s}.scope_key(
  _tenant text, _owner text, _always boolean, _key bytea, _lease bigint, _began double precision, out token_ bigint, out key_ bytea
) language plpgsql as $$
begin
  token_ := {s}.writer_token(_tenant, _owner, null, null, _lease, _began);
  if token_ is null or not _always and {s}.memory_is_off(_tenant, _owner, '') then return; end if;
  if _key is not null then
    insert into {s}.scopes as s (tenant, owner, key) values (_tenant, _owner, _key)
      on conflict (tenant, owner) do update set key = coalesce(s.key, excluded.key);
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
  if _passages is null or {s}.memory_is_off(_tenant, _owner, _session_agent) then return; end if;
  insert into {s}.passages (tenant, owner, agent, session, position, idx, seq, role, author, at, words, flow, terms, counts)
    select _tenant, _owner, _session_agent, _session, _last + i, (p ->> 0)::integer, _seq, p ->> 1, p ->> 2,
      (p ->> 3)::double precision, (p ->> 4)::integer, (p ->> 5)::smallint,
      array(select t::bigint from jsonb_array_elements_text(p -> 6) t), array(select c::smallint from jsonb_array_elements_text(p -> 7) c)
    from jsonb_array_elements(_passages) with ordinality as a (p, i) order by i;
end $$;

-- Replaces the passages of a session from a stored turn on. Returns false if the session is not as the caller has read it, or memory is off.
create function {s}.rewrite_passages(
  _tenant text, _owner text, _session_agent text, _session text, _turns integer, _seq integer, _turn_id text, _start integer, _passages jsonb
) returns boolean language plpgsql as $$
begin
  perform from {s}.sessions where ${sessionMatches} and version = _turns for update;
  if not found or {s}.memory_is_off(_tenant, _owner, _session_agent)
    or not exists (select from {s}.turns where ${ofSession} and seq = _seq and turn_id = _turn_id)
  then return false; end if;
  perform {s}.replace_passages(_tenant, _owner, _session_agent, _session, _seq, _start, _passages);
  return true;
end $$;
`
