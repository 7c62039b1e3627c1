import { ofSession, sessionMatches } from './matches.ts'

/** The same session under the other name. */
const ofOldName = ofSession.replace('_session_agent', '_from')

/** Moves the rows of the session in a table, in place of those that the new name has. */
const moveRows = (table: string) => `delete from {s}.${table} where ${ofSession};
  update {s}.${table} set agent = _session_agent
    where ${ofOldName};`

/** Moves the session of a renamed agent. */
export const moves = `
-- Moves everything that belongs to the session. Its events are deleted, because they are sealed under the old name and no reader would
-- look for them.
create function {s}.move_session(_tenant text, _owner text, _from text, _session_agent text, _session text)
returns void language plpgsql as $$
begin
  delete from {s}.sessions where ${sessionMatches};
  update {s}.sessions set agent = _session_agent
    where tenant = _tenant and owner = _owner and agent = _from and id = _session;
  ${['vault', 'recordings', 'feedback'].map(moveRows).join('\n  ')}
  update {s}.runs set session_agent = _session_agent
    where tenant = _tenant and owner = _owner and session_agent = _from and session = _session;
  delete from {s}.event_runs where ${ofOldName};
end $$;

create function {s}.adopt_session(
  _tenant text, _owner text, _session_agent text, _session text, _names text[], _token bigint,
  out outcome_ text, out held_until_ double precision
) language plpgsql as $$
declare
  there {s}.sessions%rowtype;
  _from text;
begin
  outcome_ := 'none';
  select * into there from {s}.sessions
    where ${sessionMatches} for update;
  if found and (there.version > 0 or there.open_turn is not null or there.held_until > {s}.now_ms()) then return; end if;
  foreach _from in array _names loop
    select * into there from {s}.sessions
      where tenant = _tenant and owner = _owner and agent = _from and id = _session for update;
    continue when not found;
    continue when there.version = 0 and there.open_turn is null and there.token is distinct from _token;
    if there.held_until > {s}.now_ms() and there.token is distinct from _token then
      outcome_ := 'held';
      held_until_ := there.held_until;
      return;
    end if;
    perform {s}.move_session(_tenant, _owner, _from, _session_agent, _session);
    outcome_ := 'moved';
    return;
  end loop;
end $$;
`
