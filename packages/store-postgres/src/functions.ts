import { ledgerFunctions } from './functions-ledger.ts'
import { outboxFunctions } from './functions-outbox.ts'
import { sessionFunctions } from './functions-sessions.ts'

/** One function for each operation of several steps: one way to the server and back, one transaction. */
export const functions = `
create function {s}.now_ms() returns double precision language sql volatile as
  $$ select extract(epoch from clock_timestamp())::double precision * 1000 $$;
${sessionFunctions}
${outboxFunctions}
${ledgerFunctions}
`
