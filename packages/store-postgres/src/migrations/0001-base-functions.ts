import { ledgerFunctions } from './0001-ledger-functions.ts'
import { outboxFunctions } from './0001-outbox-functions.ts'
import { sessionFunctions } from './0001-session-functions.ts'

/** One function per operation of several steps, so that it needs one round trip and one transaction. */
export const functions = `
create function {s}.now_ms() returns double precision language sql volatile as
  $$ select extract(epoch from clock_timestamp())::double precision * 1000 $$;
${sessionFunctions}
${outboxFunctions}
${ledgerFunctions}
`
