import { AlliumError } from '@allium/core'
import type { Feedback, FeedbackKey, FeedbackQuery, FeedbackSummary, Page } from '@allium/store'
import { checkFeedback, checkFeedbackQuery, checkSummaryOptions } from '@allium/store/feedback'
import {
  type EncryptionContext,
  parseCursor,
  runKeyParts,
  type Sealer,
  type SqlRow,
  sessionKeyFromRow,
  toBytes,
  toPage,
} from '@allium/store-sql'

/** What the databases write differently. */
export interface FeedbackDialect {
  /** The name of the table. */
  readonly table: string
  /** Returns the parameter with this number, from 1 on. */
  param(number: number): string
}

/** The columns that {@link feedbackParams} returns, in their order. */
export const feedbackColumns = 'tenant, owner, agent, session, turn_id, author, score, at, body'

/** Replaces the feedback of the same person on the same run. */
export const replaceFeedback = `on conflict (tenant, owner, agent, session, turn_id, author) do update set score = excluded.score,
  at = excluded.at, body = excluded.body, token = excluded.token`

/** Seals the comment and the tags of a feedback. */
export async function feedbackParams(sealer: Sealer, feedback: Feedback) {
  const { run, by, score, comment, tags, at } = feedback
  const isEmpty = comment === undefined && tags === undefined
  const body = isEmpty ? null : await sealer.seal({ comment, tags }, feedbackContext(feedback))
  return [...runKeyParts(run), by, score, at, body] as const
}

/** Opens the feedback of a row. @throws AlliumError `store.sealed`, `store.corrupt`, `store.unavailable` */
export async function feedbackFromRow(sealer: Sealer, row: SqlRow): Promise<Feedback> {
  const run = { key: sessionKeyFromRow(row), turnId: String(row.turn_id) }
  const of = { run, by: String(row.author) }
  const body = row.body === null ? {} : await sealer.open(toBytes(row.body), feedbackContext(of))
  const { comment, tags } = (body ?? {}) as Pick<Feedback, 'comment' | 'tags'>
  try {
    return checkFeedback({ ...of, score: Number(row.score), at: Number(row.at), comment, tags })
  } catch (cause) {
    const message = `The feedback on the turn "${run.turnId}" is not one that a store writes. Delete it.`
    throw new AlliumError('store.corrupt', message, { cause, details: { tenant: run.key.tenant } })
  }
}

export async function feedbackFromRows(sealer: Sealer, rows: readonly SqlRow[]): Promise<Feedback[]> {
  return Promise.all(rows.map((row) => feedbackFromRow(sealer, row)))
}

/** Reads a page in the order of an index, from the place of the cursor on. */
export async function feedbackPage(
  query: FeedbackQuery,
  { table, param }: FeedbackDialect,
  sealer: Sealer,
  read: (sql: string, ...values: (string | number)[]) => SqlRow[] | Promise<SqlRow[]>,
): Promise<Page<Feedback>> {
  const { agent, tenant, owner, sessionId, by, since, until, minScore, maxScore, isAscending, cursor, limit } =
    checkFeedbackQuery(query)
  const [first, last, order] = isAscending ? (['>', '<', 'asc'] as const) : (['<', '>=', 'desc'] as const)
  // Numbers of rows begin at 1, so `> (since, 0)` includes what was given then, and `< (until, 0)` does not.
  const [time, n] = parseCursor(cursor, [isAscending ? since : until, 0])
  const values: (string | number)[] = [agent, Math.floor(time), Math.floor(n), isAscending ? until : since, limit + 1]
  const conditions = [
    ...(tenant === undefined ? [] : [['tenant =', tenant] as const]),
    ...(owner === undefined ? [] : [['owner =', owner] as const]),
    ...(sessionId === undefined ? [] : [['session =', sessionId] as const]),
    ...(by === undefined ? [] : [['author =', by] as const]),
    ...(minScore > 0 ? [['score >=', minScore] as const] : []),
    ...(maxScore < 1 ? [['score <=', maxScore] as const] : []),
  ].map(([condition, value]) => ` and ${condition} ${param(values.push(value))}`)
  const rows = await read(
    `select n, ${feedbackColumns} from ${table} where agent = ${param(1)}${conditions.join('')}
     and (at, n) ${first} (${param(2)}, ${param(3)}) and at ${last} ${param(4)} order by at ${order}, n ${order} limit ${param(5)}`,
    ...values,
  )
  const page = toPage(
    rows,
    limit,
    (row) => [Number(row.at), Number(row.n)],
    (row) => row,
  )
  return { ...page, items: await feedbackFromRows(sealer, page.items) }
}

/** Counts the feedback of a table. */
export async function feedbackSummary(
  of: { tenant?: string | undefined; since?: number | undefined } | undefined,
  { table, param }: FeedbackDialect,
  read: (sql: string, ...values: (string | number)[]) => SqlRow[] | Promise<SqlRow[]>,
): Promise<FeedbackSummary[]> {
  const { tenant, since } = checkSummaryOptions(of ?? {})
  const isOfTenant = tenant === undefined ? '' : ` and tenant = ${param(2)}`
  const rows = await read(
    `select tenant, agent, count(*) as count, sum(case when score > 0.5 then 1 else 0 end) as up,
     sum(case when score < 0.5 then 1 else 0 end) as down, avg(score) as mean, max(at) as latest_at
     from ${table} where at >= ${param(1)}${isOfTenant} group by tenant, agent order by tenant, agent`,
    ...[since],
    ...(tenant === undefined ? [] : [tenant]),
  )
  return rows.map(({ tenant: name, agent, count, up, down, mean, latest_at }) => ({
    ...{ tenant: String(name), agent: String(agent), count: Number(count), up: Number(up), down: Number(down) },
    ...{ mean: Number(mean), latestAt: Number(latest_at) },
  }))
}

/** The place of a feedback. It does not name the agent, because a renamed agent keeps its feedback. */
function feedbackContext({ run: { key, turnId }, by }: FeedbackKey): EncryptionContext {
  return { tenant: key.tenant, row: JSON.stringify(['feedback', key.owner, key.sessionId, turnId, by]) }
}
