/** The maximum time that counts between two ticks, in milliseconds: changing the server's clock ages records by no more than this. */
const maxUnseen = 24 * 3_600_000

/**
 * Each consumer has a cursor: records up to it were claimed at least once, so `take_outbox` scans none of the completed ones. Sequence
 * numbers become visible out of order, so the cursor moves to a number only after every transaction that was running has ended. Records
 * have an owner, so that `erase` finds them, and an age that a change of the server's clock shifts by a day at most.
 */
export const outbox = `
create table {s}.outbox_clock (
  one boolean primary key default true check (one),
  elapsed double precision not null,
  seen_at double precision not null
);
insert into {s}.outbox_clock (elapsed, seen_at) values (0, {s}.now_ms());
create function {s}.outbox_now() returns double precision language sql volatile as $$
  select elapsed + least(greatest({s}.now_ms() - seen_at, 0), ${maxUnseen}) from {s}.outbox_clock
$$;

create table {s}.outbox (
  seq bigint generated always as identity primary key,
  id text collate "C" not null unique,
  tenant text not null,
  owner text collate "C" not null,
  token bigint not null,
  turn_id text not null,
  added_at double precision not null,
  body bytea not null,
  since double precision not null default {s}.outbox_now()
);
create index outbox_by_age on {s}.outbox (since);
create index outbox_by_owner on {s}.outbox (hashtextextended(tenant, 0), owner);

create table {s}.outbox_deliveries (
  consumer text collate "C" not null,
  seq bigint not null references {s}.outbox on delete cascade,
  held_until double precision not null,
  done boolean not null,
  primary key (seq, consumer)
);
create index outbox_deliveries_open on {s}.outbox_deliveries (consumer, seq) where not done;

create table {s}.outbox_cursors (
  consumer text collate "C" primary key,
  seen bigint not null default 0,
  next bigint not null default 0,
  next_xid xid8
);

-- Locks the consumer, so that no two processes take the same record.
create function {s}.take_outbox(
  _consumer text, _limit integer, _ms double precision, _keep double precision
) returns setof {s}.outbox language plpgsql as $$
declare
  c {s}.outbox_cursors%rowtype;
  _again bigint[];
  _new bigint[];
begin
  perform pg_advisory_xact_lock(hashtextextended('{s}.outbox ' || _consumer, 0));
  update {s}.outbox_clock set elapsed = {s}.outbox_now(), seen_at = {s}.now_ms()
    where abs({s}.now_ms() - seen_at) > 60000;
  delete from {s}.outbox where seq in (
    select seq from {s}.outbox where since < (select {s}.outbox_now()) - _keep order by since limit 1000 for update skip locked
  );
  insert into {s}.outbox_cursors (consumer) values (_consumer) on conflict do nothing;
  select * into c from {s}.outbox_cursors where consumer = _consumer;
  if c.next > c.seen and pg_snapshot_xmin(pg_current_snapshot()) >= c.next_xid then c.seen := c.next; end if;
  _again := array(
    select o.seq from {s}.outbox_deliveries p join {s}.outbox o on o.seq = p.seq
    where p.consumer = _consumer and not p.done and p.held_until <= (select {s}.now_ms())
    order by p.seq limit _limit for key share of o skip locked
  );
  _new := array(
    select o.seq from {s}.outbox o where o.seq > c.seen
    and not exists (select from {s}.outbox_deliveries p where p.seq = o.seq and p.consumer = _consumer)
    order by o.seq limit _limit - cardinality(_again) for key share of o skip locked
  );
  insert into {s}.outbox_deliveries (consumer, seq, held_until, done)
    select _consumer, seq, {s}.now_ms() + _ms, false from unnest(_again || _new) seq
    on conflict (seq, consumer) do update set held_until = excluded.held_until;
  -- One statement, and so one snapshot. A record that another process had locked was skipped, so the cursor stays before it.
  if c.next <= c.seen then
    select coalesce(min(o.seq) filter (where p.seq is null) - 1, max(o.seq), c.seen), pg_snapshot_xmax(pg_current_snapshot())
      into c.next, c.next_xid
      from {s}.outbox o left join {s}.outbox_deliveries p on p.seq = o.seq and p.consumer = _consumer
      where o.seq > c.seen;
  end if;
  update {s}.outbox_cursors set seen = c.seen, next = c.next, next_xid = c.next_xid
    where consumer = _consumer and (seen, next) is distinct from (c.seen, c.next);
  return query select o.* from {s}.outbox o where o.seq = any (_again || _new) order by o.seq;
end $$;

-- Locks the records first, so that the last of several consumers that complete them at once deletes them.
create function {s}.records_done(_consumer text, _ids text[], _consumers text[]) returns void language plpgsql as $$
declare _seqs bigint[];
begin
  select array_agg(o.seq) into _seqs from (
    select seq from {s}.outbox where id = any (_ids) order by seq for update
  ) o;
  insert into {s}.outbox_deliveries (consumer, seq, held_until, done)
    select _consumer, seq, 0, true from unnest(_seqs) as seq
    on conflict (seq, consumer) do update set done = true;
  if cardinality(_consumers) = 0 then return; end if;
  delete from {s}.outbox o where o.seq = any (_seqs) and not exists (
    select from unnest(_consumers) as c (consumer) where not exists (
      select from {s}.outbox_deliveries p where p.seq = o.seq and p.consumer = c.consumer and p.done
    )
  );
end $$;

create function {s}.postpone_records(
  _consumer text, _ids text[], _ms double precision, _longest double precision
) returns void language sql as $$
  update {s}.outbox_deliveries p
    set held_until = {s}.now_ms() + greatest(_ms, least(({s}.outbox_now() - o.since) / 2, _longest))
    from {s}.outbox o where o.id = any (_ids) and p.seq = o.seq and p.consumer = _consumer and not p.done
$$;
`
