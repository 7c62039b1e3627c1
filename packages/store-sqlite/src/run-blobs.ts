export const deleteHolders = (holder: string, kinds: string, agent = 'old.agent') => `delete from blob_holders
    where tenant = old.tenant and owner = old.owner and agent = ${agent} and session = old.session and kind in (${kinds}) and holder = ${holder};`

/** The steps of a durable run, the events of a run, and the records of the outbox also hold blobs, until they are deleted. */
export const runBlobs = `
drop trigger run_gone;
create trigger run_gone after delete on runs begin
  ${deleteHolders('old.run', "'task', 'step'", 'old.session_agent')}
end;
create trigger events_gone after delete on event_runs begin
  ${deleteHolders('old.turn_id', "'event'")}
end;
create index blob_records on blob_holders (holder) where kind = 'record';
create trigger record_gone after delete on outbox begin
  delete from blob_holders where kind = 'record' and holder = old.id and tenant = old.tenant;
end;
`
