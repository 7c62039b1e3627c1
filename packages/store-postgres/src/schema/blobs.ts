import { blobWriteTtl } from '@allium/store-sql'
import { ofSession, sessionMatches } from './matches.ts'

const writeMatches = `${ofSession} and kind = 'write' and holder = _write`
const ownerLock = (mode: string) =>
  `perform pg_advisory_xact_lock${mode}(hashtextextended('{s}.blobs ' || to_json(array[_tenant, _owner])::text, 0))`

/**
 * `collect_blobs` checks a blob that lost a holder under a lock that excludes new holders of the owner's blobs, and deletes it in small steps.
 * A task and events are written without a lease, so their session is deleted first if it was erased; otherwise the erasure would later delete
 * the write, too. Completed records need no blobs.
 */
export const blobs = `
-- Returns how many pieces of each blob exist, or null if the lease was lost. Locks the session's row first, as the other functions do.
create function {s}.hold_blobs(
  _tenant text, _owner text, _session_agent text, _session text, _token bigint, _write text, _blobs text[]
) returns integer[] language plpgsql as $$
begin
  if _token is null then
    perform {s}.forget_erased(_tenant, _owner, _session_agent, _session);
  else
    perform from {s}.sessions
      where ${sessionMatches} and token = _token for key share;
    if not found then return null; end if;
  end if;
  ${ownerLock('_shared')};
  insert into {s}.blob_holders
    select _tenant, _owner, _session_agent, _session, 'write', _write, b, {s}.now_ms() from unnest(_blobs) b
    where not exists (select from {s}.blob_holders where ${writeMatches} and digest = b);
  return array(
    select (select count(*)::integer from {s}.blobs where tenant = _tenant and owner = _owner and digest = b.digest)
    from unnest(_blobs) with ordinality b (digest, place) order by b.place
  );
end $$;

create function {s}.add_blob_piece(
  _tenant text, _owner text, _session_agent text, _session text, _write text, _digest text, _piece integer, _body bytea
) returns boolean language plpgsql as $$
begin
  ${ownerLock('_shared')};
  if not exists (select from {s}.blob_holders where ${writeMatches} and digest = _digest) then return false; end if;
  insert into {s}.blobs values (_tenant, _owner, _digest, _piece, _body) on conflict do nothing;
  return true;
end $$;

-- Runs in the transaction of the row that refers to the blobs. Safe to repeat: each row holds a blob once. A part of an open turn is added to
-- what the turn holds.
create function {s}.keep_blobs(
  _tenant text, _owner text, _session_agent text, _session text, _kind text, _turn_id text, _write text, _blobs text[]
) returns void language plpgsql as $$
begin
  delete from {s}.blob_holders where ${ofSession} and kind = 'open' and _kind in ('turn', 'open')
    and not (_kind = 'open' and holder = _turn_id and digest = any (_blobs));
  if cardinality(_blobs) = 0 then return; end if;
  if _kind = 'part' then _kind := 'open'; end if;
  update {s}.blob_holders h set kind = _kind, holder = _turn_id where ${writeMatches} and not exists (
    select from {s}.blob_holders where ${ofSession} and kind = _kind and holder = _turn_id and digest = h.digest
  );
  delete from {s}.blob_holders where ${writeMatches};
  if exists (
    select from unnest(_blobs) b where not exists (
      select from {s}.blob_holders where ${ofSession} and kind = _kind and holder = _turn_id and digest = b
    )
  ) then
    raise exception 'The write no longer holds its blobs.' using errcode = 'AL001';
  end if;
end $$;

create function {s}.hold_records(
  _tenant text, _owner text, _session_agent text, _session text, _records text[], _blobs text[]
) returns void language sql as $$
  insert into {s}.blob_holders
    select _tenant, _owner, _session_agent, _session, 'record', r.id, r.blob, {s}.now_ms()
    from unnest(_records, _blobs) r (id, blob)
    where exists (select from {s}.outbox o where o.id = r.id and o.tenant = _tenant)
    and not exists (select from {s}.blob_holders h where h.kind = 'record' and h.holder = r.id and h.tenant = _tenant and h.digest = r.blob)
$$;

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
  ${ownerLock('')};
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
