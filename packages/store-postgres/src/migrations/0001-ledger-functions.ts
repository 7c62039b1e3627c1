/** `reserve` and `settle`. Both lock the account's row while they post. */
export const ledgerFunctions = `
create function {s}.reserve(
  _id text, _account text, _amount numeric, _limit double precision, _ends_in double precision, _closed text[],
  out amount_ numeric
) language plpgsql as $$
declare
  held {s}.accounts%rowtype;
begin
  loop
    select * into held from {s}.accounts where name = _account for update;
    exit when found;
    insert into {s}.accounts (name) values (_account) on conflict do nothing;
  end loop;
  if cardinality(_closed) > 0 or random() < 0.02 then perform {s}.forget_accounts(_account, _closed); end if;
  select amount into amount_ from {s}.holds where account = _account and id = _id;
  if found or (held.spent + held.reserved + _amount)::double precision > _limit then return; end if;
  insert into {s}.holds (account, id, amount, at) values (_account, _id, _amount, {s}.now_ms());
  update {s}.accounts set reserved = reserved + _amount, ends_at = coalesce({s}.now_ms() + _ends_in, ends_at)
    where name = _account;
  amount_ := _amount;
end $$;

create function {s}.settle(_id text, _account text, _spent numeric) returns void language plpgsql as $$
declare
  held numeric;
begin
  perform from {s}.accounts where name = _account for update;
  update {s}.holds set settled = true where account = _account and id = _id and not settled returning amount into held;
  if not found then return; end if;
  update {s}.accounts set spent = spent + _spent, reserved = reserved - held where name = _account;
end $$;

-- Some of those that ended, and of what was settled a month ago. It waits for nobody, since who waits may hold what others want.
create function {s}.forget_accounts(_but text, _closed text[]) returns void language plpgsql as $$
begin
  if cardinality(_closed) > 0 then
    update {s}.accounts set ends_at = 0 where name in (
      select name from {s}.accounts where name = any (_closed) and name <> _but for update skip locked
    );
  end if;
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
