import { AlliumError, type ErrorCode, messageOf } from '@allium/core'

/** How an error of the driver is told, if it is one of the database. SQLSTATE: https://www.postgresql.org/docs/current/errcodes-appendix.html */
export function told(error: unknown): unknown {
  if (error instanceof AlliumError) return error
  const found = kinds.find(({ codes }) => codes.test(codeOf(error))) ?? (isLost(error) ? lost : undefined)
  if (found === undefined) return error
  const why = messageOf(error) || codeOf(error)
  return new AlliumError(found.code, `The database ${found.what}: ${why.replace(/\.$/, '')}.`, { cause: error })
}

/** The connection could not be made, or ended; or the server has undone the statement and says so. */
export function isLost(error: unknown): boolean {
  return lost.codes.test(codeOf(error)) || (codeOf(error) === '' && terminations.test(messageOf(error)))
}

/** Nothing of the statement has happened: it can be sent again, whatever it does. */
export function isUndone(error: unknown): boolean {
  return /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|57P03|53300|40001|40P01)$/.test(codeOf(error))
}

/** A server's SQLSTATE, or a system's error. */
function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown }
  return typeof code === 'string' ? code : ''
}

interface Kind {
  readonly codes: RegExp
  readonly code: ErrorCode
  readonly what: string
}

const lost: Kind = {
  codes:
    /^(08\w{3}|57P0[1235]|53300|40001|40P01|ECONN\w+|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOST\w+|ENET\w+|ENOENT)$/,
  code: 'store.unavailable',
  what: 'could not be asked',
}

const kinds: readonly Kind[] = [
  {
    codes: /^(57014|55P03)$/,
    code: 'store.unavailable',
    what: 'took too long. Nothing was stored: look at its load and locks, and at statement_timeout and lock_timeout of its role',
  },
  {
    codes: /^42501$/,
    code: 'store.readonly',
    what: "refuses what its role may not do. Grant the role what docs/guide/stores.md lists, or migrate with another role and use migrate: 'check'",
  },
  {
    codes: /^28\w{3}$/,
    code: 'store.unavailable',
    what: 'refuses the role of the connection. Check its name and password, and pg_hba.conf',
  },
  { codes: /^3D000$/, code: 'store.unavailable', what: 'is not there. Create it, or name another one in "url"' },
  {
    codes: /^(42P01|3F000|42883|42703)$/,
    code: 'store.corrupt',
    what: 'lacks tables or functions of the store. Run what postgresSql() gives, or restore it from a backup',
  },
  { codes: /^(53100|54P01)$/, code: 'store.full', what: 'has no room on its disk' },
  { codes: /^22021$/, code: 'store.key', what: 'cannot hold a NUL' },
  { codes: /^25006$/, code: 'store.readonly', what: 'may not be written' },
  { codes: /^(XX001|XX002)$/, code: 'store.corrupt', what: 'is damaged' },
  lost,
]

/** The driver and its pool tell these without a code. */
const terminations =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|timeout exceeded|timeout expired|Query read timeout|Cannot use a pool)/
