/** `take_records` and `records_done`. */
export const outboxFunctions = `
-- One taker of a consumer at a time, so that no two have the same record; other consumers go on.
create function {s}.take_records(
  _consumer text, _limit integer, _ms double precision, _keep double precision
) returns setof {s}.outbox language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('{s}.outbox ' || _consumer, 0));
  delete from {s}.outbox where seq in (
    select seq from {s}.outbox where added_at < (select {s}.now_ms()) - _keep order by seq limit 1000 for update skip locked
  );
  return query
    with free as (
      select o.seq from {s}.outbox o left join {s}.outbox_places p on p.seq = o.seq and p.consumer = _consumer
      where p.seq is null or (not p.done and p.held_until <= (select {s}.now_ms()))
      order by o.seq limit _limit for key share of o skip locked
    ), held as (
      insert into {s}.outbox_places (consumer, seq, held_until, done)
        select _consumer, free.seq, {s}.now_ms() + _ms, false from free
        on conflict (seq, consumer) do update set held_until = excluded.held_until
        returning seq
    )
    select o.* from {s}.outbox o join held on held.seq = o.seq order by o.seq;
end $$;

-- The records are locked first: of two consumers that are done at once the second sees the first.
create function {s}.records_done(_consumer text, _ids text[], _consumers text[]) returns void language plpgsql as $$
declare _seqs bigint[];
begin
  select array_agg(o.seq) into _seqs from (
    select seq from {s}.outbox where id = any (_ids) order by seq for update
  ) o;
  insert into {s}.outbox_places (consumer, seq, held_until, done)
    select _consumer, seq, 0, true from unnest(_seqs) as seq
    on conflict (seq, consumer) do update set done = true;
  if cardinality(_consumers) = 0 then return; end if;
  delete from {s}.outbox o where o.seq = any (_seqs) and not exists (
    select from unnest(_consumers) as c (consumer) where not exists (
      select from {s}.outbox_places p where p.seq = o.seq and p.consumer = c.consumer and p.done
    )
  );
end $$;
`
