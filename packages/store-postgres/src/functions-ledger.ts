/** `reserve` and `settle`: both hold the account's row while they post. */
export const ledgerFunctions = `
create function {s}.reserve(
  _id text, _account text, _amount numeric, _limit double precision, out amount_ numeric
) language plpgsql as $$
declare
  held {s}.accounts%rowtype;
begin
  loop
    select * into held from {s}.accounts where name = _account for update;
    exit when found;
    insert into {s}.accounts (name) values (_account) on conflict do nothing;
  end loop;
  select amount into amount_ from {s}.holds where account = _account and id = _id;
  if found or (held.spent + held.reserved + _amount)::double precision > _limit then return; end if;
  insert into {s}.holds (account, id, amount, at) values (_account, _id, _amount, {s}.now_ms());
  update {s}.accounts set reserved = reserved + _amount where name = _account;
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
`
