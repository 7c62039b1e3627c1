import { AlliumError } from '@allium/core'
import type { RunKey } from '../event-log.ts'
import type { Feedback, FeedbackKey, FeedbackQuery } from '../feedback-store.ts'
import { checkRun } from '../run-names.ts'
import { checkStoreName, isWellFormed } from '../store-name.ts'

/** The maximum size of a comment, in UTF-8 bytes. */
export const maxCommentBytes = 4000
/** The maximum number of tags of a feedback, and of characters of a tag. */
export const [maxTags, maxTagLength] = [16, 64] as const
/** The maximum number of runs whose feedback one call returns. */
export const maxRunsOfFeedback = 1000

/** Returns a private copy of the runs. @throws AlliumError `store.key`, `options.invalid` */
export function checkRuns(runs: readonly RunKey[]): RunKey[] {
  if (runs.length > maxRunsOfFeedback)
    throw invalid(`ofRuns() got ${runs.length} runs. Pass at most ${maxRunsOfFeedback}.`)
  return runs.map(checkRun)
}

/** Returns a private copy of the key of a feedback. @throws AlliumError `store.key` */
export function checkFeedbackKey({ run, by }: FeedbackKey): FeedbackKey {
  return { run: checkRun(run), by: checkStoreName('person who gave feedback', by) }
}

/** Returns a private copy of a feedback. @throws AlliumError `store.key`, `options.invalid` */
export function checkFeedback(feedback: Feedback): Feedback {
  const { score, comment, tags = [], at } = feedback
  checkScore('score', score)
  checkTime('at', at)
  if (comment !== undefined) checkComment(comment)
  checkTags(tags)
  return {
    ...checkFeedbackKey(feedback),
    score,
    ...(comment !== undefined && { comment }),
    ...(tags.length > 0 && { tags: [...tags] }),
    at,
  }
}

/** Returns the query with its defaults. @throws AlliumError `store.key`, `options.invalid` */
export function checkFeedbackQuery(query: FeedbackQuery) {
  const { agent, tenant, owner, sessionId, by, order = 'desc', cursor, limit } = query
  const { since = 0, until = Number.MAX_SAFE_INTEGER, minScore = 0, maxScore = 1 } = query
  checkStoreName('agent', agent)
  const names = { tenant, owner, 'session id': sessionId, 'person who gave feedback': by }
  for (const [what, name] of Object.entries(names)) if (name !== undefined) checkStoreName(what, name)
  checkTime('since', since)
  checkTime('until', until)
  checkScore('minScore', minScore)
  checkScore('maxScore', maxScore)
  const isAscending = order === 'asc'
  return { agent, tenant, owner, sessionId, by, since, until, minScore, maxScore, isAscending, cursor, limit }
}

/** Returns the options of `summary()` with their defaults. @throws AlliumError `store.key` */
export function checkSummaryOptions({
  tenant,
  since = 0,
}: {
  tenant?: string | undefined
  since?: number | undefined
}) {
  if (tenant !== undefined) checkStoreName('tenant', tenant)
  checkTime('since', since)
  return { tenant, since }
}

function checkScore(name: string, score: number): void {
  if (typeof score === 'number' && score >= 0 && score <= 1) return
  throw invalid(`The "${name}" of a feedback is ${String(score)}. Pass a number from 0 to 1.`)
}

function checkComment(comment: string): void {
  if (typeof comment !== 'string' || !isWellFormed(comment))
    throw invalid('The comment of a feedback is not a well-formed text. Pass a string without lone surrogates.')
  if (!isComment(comment))
    throw invalid(`The comment of a feedback has more than ${maxCommentBytes} UTF-8 bytes. Shorten it.`)
}

/** Whether a text can be the comment of a feedback. */
export function isComment(text: string): boolean {
  return isWellFormed(text) && new TextEncoder().encode(text).length <= maxCommentBytes
}

function checkTags(tags: readonly string[]): void {
  if (!Array.isArray(tags) || tags.length > maxTags)
    throw invalid(`A feedback has at most ${maxTags} tags, in a list. It got ${tags?.length ?? String(tags)}.`)
  for (const tag of tags)
    if (typeof tag !== 'string' || tag.length < 1 || tag.length > maxTagLength || !isWellFormed(tag))
      throw invalid(`The tag ${JSON.stringify(tag)?.slice(0, 80)} is not a text of 1 to ${maxTagLength} characters.`)
  if (new Set(tags).size < tags.length) throw invalid('A feedback has the same tag twice. Pass each tag once.')
}

/** Databases store whole milliseconds. */
function checkTime(name: string, value: number): void {
  if (Number.isSafeInteger(value)) return
  throw new AlliumError(
    'store.key',
    `The "${name}" of a feedback is ${String(value)}. Pass whole milliseconds since the epoch.`,
    { details: { what: name } },
  )
}

function invalid(message: string): AlliumError {
  return new AlliumError('options.invalid', message)
}
