import { AlliumError, type ErrorCode, messageOf } from '@allium/core'

/**
 * Converts an error of the driver if it comes from the database. SQLSTATE: https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
export function toStoreError(error: unknown): unknown {
  if (error instanceof AlliumError) return error
  const kind =
    errorKinds.find(({ codes }) => codes.test(codeOf(error))) ?? (isConnectionLost(error) ? connectionLost : undefined)
  if (kind === undefined) return error
  const reason = messageOf(error) || codeOf(error)
  return new AlliumError(kind.code, `The database ${kind.failure}: ${reason.replace(/\.$/, '')}.`, { cause: error })
}

/** Whether the connection failed or ended, or the server has rolled the statement back and reports that. */
export function isConnectionLost(error: unknown): boolean {
  return (
    connectionLost.codes.test(codeOf(error)) || (codeOf(error) === '' && terminationMessages.test(messageOf(error)))
  )
}

/** Whether nothing of the statement was executed, so that any statement can be sent again. */
export function isNotExecuted(error: unknown): boolean {
  return /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|57P03|53300|40001|40P01)$/.test(codeOf(error))
}

/** Returns a server's SQLSTATE, or a system's error code. */
function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown }
  return typeof code === 'string' ? code : ''
}

interface ErrorKind {
  readonly codes: RegExp
  readonly code: ErrorCode
  readonly failure: string
}

const connectionLost: ErrorKind = {
  codes:
    /^(08\w{3}|57P0[1235]|53300|40001|40P01|ECONN\w+|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOST\w+|ENET\w+|ENOENT)$/,
  code: 'store.unavailable',
  failure: 'could not be queried',
}

const errorKinds: readonly ErrorKind[] = [
  {
    codes: /^(57014|55P03)$/,
    code: 'store.unavailable',
    failure:
      'took too long. Nothing was stored. Check its load and locks, and statement_timeout and lock_timeout of its role',
  },
  {
    codes: /^42501$/,
    code: 'store.readonly',
    failure:
      "denied a permission to the role. Grant it the rights in docs/guide/stores/postgres.md, or migrate with another role and use migrate: 'check'",
  },
  {
    codes: /^28\w{3}$/,
    code: 'store.unavailable',
    failure: 'rejected the role of the connection. Check its name and password, and pg_hba.conf',
  },
  { codes: /^3D000$/, code: 'store.unavailable', failure: 'does not exist. Create it, or name another one in "url"' },
  {
    codes: /^(42P01|3F000|42883|42703)$/,
    code: 'store.corrupt',
    failure:
      'lacks tables or functions of the store. Run the SQL that postgresSql() returns, or restore it from a backup',
  },
  { codes: /^(53100|54P01)$/, code: 'store.full', failure: 'has no space left on its disk' },
  { codes: /^22021$/, code: 'store.key', failure: 'cannot store a NUL character' },
  { codes: /^25006$/, code: 'store.readonly', failure: 'is read-only' },
  { codes: /^(XX001|XX002)$/, code: 'store.corrupt', failure: 'is damaged' },
  connectionLost,
]

/** Errors that the driver and its pool report without a code. */
const terminationMessages =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|timeout exceeded|timeout expired|Query read timeout|Cannot use a pool)/
