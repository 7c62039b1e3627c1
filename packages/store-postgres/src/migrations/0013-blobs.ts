import { blobWriteTtl } from '@allium/store-sql'

export const sessionMatches = 'tenant = _tenant and owner = _owner and agent = _session_agent and session = _session'
const writeMatches = `${sessionMatches} and kind = 'write' and holder = _write`
const ownerLock = (mode: string, owner: string) =>
  `perform pg_advisory_xact_lock${mode}(hashtextextended('{s}.blobs ' || to_json(array[${owner}])::text, 0))`

/** Returns `hold_blobs`. @param begin checks the writer */
export const holdBlobs = (begin: string) => `create function {s}.hold_blobs(
  _tenant text, _owner text, _session_agent text, _session text, _token bigint, _write text, _blobs text[]
) returns integer[] language plpgsql as $$
begin
${begin}  ${ownerLock('_shared', '_tenant, _owner')};
  insert into {s}.blob_holders
    select _tenant, _owner, _session_agent, _session, 'write', _write, b, {s}.now_ms() from unnest(_blobs) b
    where not exists (select from {s}.blob_holders where ${writeMatches} and digest = b);
  return array(
    select (select count(*)::integer from {s}.blobs where tenant = _tenant and owner = _owner and digest = b.digest)
    from unnest(_blobs) with ordinality b (digest, place) order by b.place
  );
end $$;`

/** Returns `keep_blobs`. @param when whether the holder replaces the open turn */
export const keepBlobs = (when: string) => `create function {s}.keep_blobs(
  _tenant text, _owner text, _session_agent text, _session text, _kind text, _turn_id text, _write text, _blobs text[]
) returns void language plpgsql as $$
begin
  delete from {s}.blob_holders where ${sessionMatches} and kind = 'open' and ${when}
    and not (_kind = 'open' and holder = _turn_id and digest = any (_blobs));
  if cardinality(_blobs) = 0 then return; end if;
  update {s}.blob_holders h set kind = _kind, holder = _turn_id where ${writeMatches} and not exists (
    select from {s}.blob_holders where ${sessionMatches} and kind = _kind and holder = _turn_id and digest = h.digest
  );
  delete from {s}.blob_holders where ${writeMatches};
  if exists (
    select from unnest(_blobs) b where not exists (
      select from {s}.blob_holders where ${sessionMatches} and kind = _kind and holder = _turn_id and digest = b
    )
  ) then
    raise exception 'The write no longer holds its blobs.' using errcode = 'AL001';
  end if;
end $$;`

/**
 * Images and files are stored separately from the rows that refer to them, once per owner, in pieces. A row of `blob_holders` records
 * which row needs them: a turn, the open turn, the task of a durable run, or a write that has not been committed yet. It is deleted with
 * its session. Each blob that lost a holder is listed in `unheld_blobs`. `collect_blobs` checks it under a lock that excludes new holders
 * of the owner's blobs, and deletes it in small steps.
 */
export const blobs = `
create table {s}.blobs (
  tenant text collate "C" not null,
  owner text collate "C" not null,
  digest text collate "C" not null,
  piece integer not null,
  body bytea not null,
  primary key (tenant, owner, digest, piece)
);
alter table {s}.blobs alter column body set storage external;

create table {s}.blob_holders (
  tenant text collate "C" not null,
  owner text collate "C" not null,
  agent text collate "C" not null,
  session text collate "C" not null,
  kind text not null,
  holder text not null,
  digest text collate "C" not null,
  at double precision not null,
  foreign key (tenant, owner, agent, session) references {s}.sessions (tenant, owner, agent, id)
    on update cascade on delete cascade
);
create index blob_holders_by_session on {s}.blob_holders (tenant, owner, agent, session);
create index blob_holders_by_digest on {s}.blob_holders (digest);
create index blob_writes on {s}.blob_holders (at) where kind = 'write';

create table {s}.unheld_blobs (
  n bigint generated always as identity primary key,
  tenant text collate "C" not null,
  owner text collate "C" not null,
  digest text collate "C" not null
);
create function {s}.blob_unheld() returns trigger language plpgsql as $$
begin
  insert into {s}.unheld_blobs (tenant, owner, digest) values (old.tenant, old.owner, old.digest);
  return null;
end $$;
create trigger blob_unheld after delete on {s}.blob_holders for each row execute function {s}.blob_unheld();

create function {s}.task_gone() returns trigger language plpgsql as $$
begin
  delete from {s}.blob_holders where tenant = old.tenant and owner = old.owner and agent = old.session_agent
    and session = old.session and kind = 'task' and holder = old.run;
  return null;
end $$;
create trigger task_gone after update of task on {s}.runs for each row
  when (old.task is not null and new.task is null) execute function {s}.task_gone();
create trigger run_gone after delete on {s}.runs for each row execute function {s}.task_gone();

-- Returns how many pieces of each blob exist, or null if the lease was lost. Locks the session's row first, as the other functions do.
${holdBlobs(`  -- A task has no lease, and its session may not exist yet.
  if _token is null then
    insert into {s}.sessions (tenant, owner, agent, id) values (_tenant, _owner, _session_agent, _session) on conflict do nothing;
  end if;
  perform from {s}.sessions
    where tenant = _tenant and owner = _owner and agent = _session_agent and id = _session and token = coalesce(_token, token) for key share;
  if not found then return null; end if;
`)}

create function {s}.add_blob_piece(
  _tenant text, _owner text, _session_agent text, _session text, _write text, _digest text, _piece integer, _body bytea
) returns boolean language plpgsql as $$
begin
  ${ownerLock('_shared', '_tenant, _owner')};
  if not exists (select from {s}.blob_holders where ${writeMatches} and digest = _digest) then return false; end if;
  insert into {s}.blobs values (_tenant, _owner, _digest, _piece, _body) on conflict do nothing;
  return true;
end $$;

-- Runs in the transaction of the row that refers to the blobs. Safe to repeat: each row holds a blob once.
${keepBlobs("_kind <> 'task'")}

-- Returns whether there is more to do.
create function {s}.collect_blobs(_limit integer) returns boolean language plpgsql as $$
declare
  _tenant text;
  _owner text;
  _digest text;
  _gone integer;
begin
  delete from {s}.blob_holders where kind = 'write' and at < {s}.now_ms() - ${blobWriteTtl};
  select tenant, owner into _tenant, _owner from {s}.unheld_blobs order by n limit 1;
  if not found then return false; end if;
  ${ownerLock('', '_tenant, _owner')};
  delete from {s}.unheld_blobs u where tenant = _tenant and owner = _owner and exists (
    select from {s}.blob_holders h where h.tenant = _tenant and h.owner = _owner and h.digest = u.digest
  );
  select digest into _digest from {s}.unheld_blobs where tenant = _tenant and owner = _owner order by n limit 1;
  if found then
    delete from {s}.blobs where tenant = _tenant and owner = _owner and digest = _digest and piece in (
      select piece from {s}.blobs where tenant = _tenant and owner = _owner and digest = _digest order by piece desc limit _limit
    );
    get diagnostics _gone = row_count;
    if _gone < _limit then
      delete from {s}.unheld_blobs where tenant = _tenant and owner = _owner and digest = _digest;
    end if;
  end if;
  return exists (select from {s}.unheld_blobs);
end $$;
`
