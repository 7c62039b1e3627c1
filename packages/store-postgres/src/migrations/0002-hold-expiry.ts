/**
 * Expired holds free their amount, and holds are found by their run. The previous `reserve` stays next to the new one for processes
 * that still run; they see an expired hold as held.
 */
export const holdExpiry = `
alter table {s}.holds
  add column run text,
  add column expires_at double precision,
  add column freed boolean not null default false;
create index holds_by_run on {s}.holds (hashtextextended(run, 0)) where run is not null and not settled;
create index holds_by_expiry on {s}.holds (account, expires_at)
  where not settled and not freed and expires_at is not null;

create index turns_by_time on {s}.turns (tenant, ended_at);

create function {s}.reserve(
  _id text, _account text, _amount numeric, _limit double precision, _ends_in double precision, _closed text[],
  _ttl double precision, _run text, out amount_ numeric
) language plpgsql as $$
declare
  held {s}.accounts%rowtype;
  _now double precision := {s}.now_ms();
  _over numeric;
  _known {s}.holds%rowtype;
begin
  loop
    select * into held from {s}.accounts where name = _account for update;
    exit when found;
    insert into {s}.accounts (name) values (_account) on conflict do nothing;
  end loop;
  if cardinality(_closed) > 0 or random() < 0.02 then perform {s}.forget_accounts(_account, _closed); end if;
  select * into _known from {s}.holds where account = _account and id = _id;
  if found then
    amount_ := _known.amount;
    if _known.settled or (_known.expires_at is null and _ttl is null) then return; end if;
    update {s}.holds set expires_at = _now + _ttl, freed = false where account = _account and id = _id;
    if _known.freed then
      update {s}.accounts set reserved = reserved + _known.amount where name = _account;
    end if;
    return;
  end if;
  with over as (
    update {s}.holds set freed = true
      where account = _account and not settled and not freed and expires_at <= _now returning amount
  ) select coalesce(sum(amount), 0) into _over from over;
  if (held.spent + held.reserved - _over + _amount)::double precision > _limit then
    if _over <> 0 then update {s}.accounts set reserved = reserved - _over where name = _account; end if;
    return;
  end if;
  insert into {s}.holds (account, id, amount, at, run, expires_at)
    values (_account, _id, _amount, _now, _run, _now + _ttl);
  update {s}.accounts
    set reserved = reserved - _over + _amount, ends_at = coalesce(_now + _ends_in, ends_at) where name = _account;
  amount_ := _amount;
end $$;

create or replace function {s}.settle(_id text, _account text, _spent numeric) returns void language plpgsql as $$
declare
  held numeric;
begin
  perform from {s}.accounts where name = _account for update;
  update {s}.holds set settled = true where account = _account and id = _id and not settled
    returning case when freed then 0 else amount end into held;
  if not found then return; end if;
  update {s}.accounts set spent = spent + _spent, reserved = reserved - held where name = _account;
end $$;

create function {s}.free_holds(_account text) returns void language plpgsql as $$
declare
  _over numeric;
begin
  perform from {s}.accounts where name = _account for update skip locked;
  if not found then return; end if;
  with over as (
    update {s}.holds set freed = true
      where account = _account and not settled and not freed and expires_at <= {s}.now_ms() returning amount
  ) select coalesce(sum(amount), 0) into _over from over;
  if _over <> 0 then update {s}.accounts set reserved = reserved - _over where name = _account; end if;
end $$;

create or replace function {s}.forget_accounts(_but text, _closed text[]) returns void language plpgsql as $$
begin
  if cardinality(_closed) > 0 then
    update {s}.accounts set ends_at = 0 where name in (
      select name from {s}.accounts where name = any (_closed) and name <> _but for update skip locked
    );
  end if;
  perform {s}.free_holds(name) from (
    select name from {s}.accounts where ends_at <= (select {s}.now_ms()) and reserved <> 0 and name <> _but limit 100
  ) ended;
  with gone as (
    delete from {s}.accounts where name in (
      select name from {s}.accounts where ends_at <= (select {s}.now_ms()) and reserved = 0 and name <> _but
      limit 100 for update skip locked
    ) returning name
  ) delete from {s}.holds h using gone where h.account = gone.name;
  delete from {s}.holds where (account, id) in (
    select account, id from {s}.holds where settled and at < (select {s}.now_ms()) - 2592000000
    order by at limit 100 for update skip locked
  );
end $$;
`
