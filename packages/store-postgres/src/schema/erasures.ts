import { tombstoneTtl } from '@allium/store-sql'
import { countedDays, isCounted, totalColumns, usageColumnNames } from './usage-columns.ts'

const addedTotals = totalColumns.map((name) => `${name} = t.${name} + excluded.${name}`).join(', ')

/** Matches rows of a table that are older than an erasure. */
const olderRows = (table: string, owned = '(_owner is null or owner = _owner)') => `ctid = any (array(
    select ctid from {s}.${table} where tenant = _tenant and ${owned} and token < _token limit _limit
  ))`

/** The tables whose older rows are deleted, after sessions and runs. */
const erasedTables = ['schedules', 'event_runs', 'vault', 'recordings', 'feedback', 'outbox', 'key_values']

/** Feedback also belongs to the person who gave it. A condition of its own, so that it reads an index. */
const erasedRows = [
  ...erasedTables.map((table) => [table, olderRows(table)]),
  ['feedback', olderRows('feedback', 'author = _owner')],
]

/**
 * Erasures are identified by digests under a key of the schema. Writers of an owner's data hold a shared lock; an erasure waits for them and
 * then adds its tombstone. Data stores the token of its writer, so that an erasure deletes older data, and nothing of a run that begins
 * meanwhile. An erasure also rejects the writes of blobs that are in progress.
 */
export const erasures = `
create table {s}.erasures (
  subject text collate "C" primary key,
  token bigint not null,
  at double precision not null,
  expires_at double precision not null
);
create table {s}.usage_totals (
  subject text collate "C" not null,
  day text not null,
  runs bigint not null,
  estimated bigint not null,
  ${usageColumnNames.map((name) => `${name} double precision not null`).join(', ')},
  primary key (subject, day)
);

create function {s}.erased(_tenant text, _owner text, _agent text, _session text, out token_ bigint, out at_ double precision)
language plpgsql as $$
begin
  if not exists (select from {s}.erasures) then return; end if;
  select max(token), max(at) into token_, at_ from {s}.erasures
    where subject in (
      {s}.digest(to_json(array[_tenant])::text), {s}.digest(to_json(array[_tenant, _owner])::text),
      {s}.digest(to_json(array[_tenant, _owner, _agent, _session])::text)
    ) and expires_at > {s}.now_ms();
end $$;

-- Returns the token of a writer's data, by its lease or the start of its run; null if the data were erased since.
create function {s}.writer_token(
  _tenant text, _owner text, _agent text, _session text, _lease bigint, _began double precision
) returns bigint language plpgsql as $$
declare
  e record;
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('{s}.erasure ' || _tenant, 0));
  select * into e from {s}.erased(_tenant, _owner, _agent, _session);
  if _lease < e.token_ or _lease is null and _began <= e.at_ then return null; end if;
  -- Null before the first token. The right to use the sequence is enough to read it.
  return coalesce(_lease, pg_sequence_last_value('{s}.tokens'::regclass), 0);
end $$;

create function {s}.begin_erasure(
  _tenant text, _owner text, _agent text, _session text, out token_ bigint, out run_ bigint
) language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('{s}.erasure ' || _tenant, 0));
  delete from {s}.erasures where expires_at <= {s}.now_ms();
  token_ := nextval('{s}.tokens');
  insert into {s}.erasures values (
    {s}.digest(to_json(array_remove(array[_tenant, _owner, _agent, _session], null))::text),
    token_, {s}.now_ms(), {s}.now_ms() + ${tombstoneTtl}
  ) on conflict (subject) do update set token = excluded.token, at = excluded.at, expires_at = excluded.expires_at;
  select coalesce(max(n), 0) into run_ from {s}.runs;
  -- A run that begins now must not use a key that is deleted after it. A session has none of its own.
  if _agent is null then delete from {s}.scopes where tenant = _tenant and (_owner is null or owner = _owner); end if;
  delete from {s}.blob_holders where kind = 'write' and tenant = _tenant and (_owner is null or owner = _owner)
    and (_agent is null or agent = _agent) and (_session is null or session = _session);
end $$;

-- Keeps the usage of the sessions in the totals of their tenant. Returns how many had content.
create function {s}.forget_sessions(_tenant text, _owners text[], _agents text[], _ids text[]) returns integer language plpgsql as $$
declare
  _stored integer;
begin
  insert into {s}.usage_totals as t (subject, day, ${totalColumns.join(', ')})
    select {s}.digest(_tenant), ${countedDays} from {s}.turns
    where tenant = _tenant and (owner, agent, session) in (select * from unnest(_owners, _agents, _ids)) and ${isCounted} group by day
    on conflict (subject, day) do update set ${addedTotals};
  with gone as (
    delete from {s}.sessions where tenant = _tenant and (owner, agent, id) in (select * from unnest(_owners, _agents, _ids)) returning status
  ) select count(status) into _stored from gone;
  return _stored;
end $$;

-- Deletes a session that an erasure has not reached yet.
create function {s}.forget_erased(_tenant text, _owner text, _agent text, _session text) returns void language plpgsql as $$
declare
  e record;
begin
  select * into e from {s}.erased(_tenant, _owner, _agent, _session);
  if e.token_ is null then return; end if;
  perform from {s}.sessions where tenant = _tenant and owner = _owner and agent = _agent and id = _session and abs(token) < e.token_ for update;
  if found then perform {s}.forget_sessions(_tenant, array[_owner], array[_agent], array[_session]); end if;
end $$;

-- One step of an erasure. Sessions go first: their leases are void then, so that nothing more is recorded under them.
create function {s}.erase_some(
  _tenant text, _owner text, _token bigint, _run bigint, _limit integer, out stored_ integer, out found_ integer
) language plpgsql as $$
declare
  _owners text[];
  _agents text[];
  _ids text[];
  _more integer;
begin
  select array_agg(o.owner), array_agg(o.agent), array_agg(o.id) into _owners, _agents, _ids from (
    select owner, agent, id from {s}.sessions s where tenant = _tenant and (_owner is null or owner = _owner)
    and (abs(token) < _token or run in (select r.run from {s}.runs r where r.tenant = _tenant and r.n <= _run))
    order by owner, agent, id limit _limit for update
  ) o;
  found_ := coalesce(cardinality(_ids), 0);
  stored_ := case when found_ = 0 then 0 else {s}.forget_sessions(_tenant, _owners, _agents, _ids) end;
  if found_ > 0 then return; end if;
  delete from {s}.runs where n in (
    select n from {s}.runs where tenant = _tenant and (_owner is null or owner = _owner) and n <= _run limit _limit
  );
  get diagnostics found_ = row_count;
  ${erasedRows
    .map(
      ([table, rows]) =>
        `delete from {s}.${table} where ${rows};\n  get diagnostics _more = row_count;\n  found_ := found_ + _more;`,
    )
    .join('\n  ')}
  delete from {s}.rollout_turns where ctid = any (array(
    select ctid from {s}.rollout_turns where tenant_digest = {s}.digest(to_json(array[_tenant])::text)
    and (_owner is null or owner_digest = {s}.digest(to_json(array[_tenant, _owner])::text)) and token < _token limit _limit
  ));
  get diagnostics _more = row_count;
  found_ := found_ + _more;
  update {s}.holds set names = null, run = null, tenant = null, owner = null where ${olderRows('holds')};
  get diagnostics _more = row_count;
  found_ := found_ + _more;
end $$;
`
