import { parseArgs } from 'node:util'
import { type ReindexedSession, reindex } from '@allium/memory/reindex'
import { isAlliumError, messageOf } from 'allium'
import type { CommandContext } from './command-context.ts'
import { exitCodes, UsageError } from './exit-codes.ts'
import { visible } from './printable.ts'
import { openRunStore } from './runs/open-run-store.ts'
import { report } from './runs/report.ts'

const string = { type: 'string' } as const

/** What was done so far. */
interface Counts {
  sessions: number
  passages: number
  skipped: Record<string, number>
  /** Where to continue. */
  cursor?: string
}

/**
 * `allium store reindex --store chats.db --tenant acme --agent support`: writes the passages of stored sessions again. Ctrl-C stops it after the
 * session at hand, and it prints how to continue. @throws UsageError
 */
export async function reindexStore(argv: readonly string[], context: CommandContext): Promise<number> {
  const { store: where, tenant, owner, agent, language, cursor, json = false } = valuesOf(argv)
  if (tenant === undefined || agent === undefined)
    throw new UsageError('"allium store reindex" needs --tenant, and --agent for each agent that has memory.recall.')
  const store = await openRunStore(where, context)
  let isStopped = false
  const stop = () => {
    isStopped = true
  }
  context.on('SIGINT', stop)
  const counts: Counts = { sessions: 0, passages: 0, skipped: {}, ...(cursor !== undefined && { cursor }) }
  try {
    const { sessions, passages } = store
    if (sessions === undefined || passages === undefined) throw new UsageError('The store has no passages.')
    const scope = { tenant, owner, agents: agent, language: language as never, cursor }
    for await (const one of reindex({ store: { sessions, passages }, ...scope })) {
      count(counts, one, context)
      if (isStopped) break
    }
    const isDone = !isStopped
    report({ ...counts, isDone }, textOf(counts, isStopped), { isDone, json }, context)
    return isStopped ? exitCodes.aborted : exitCodes.ok
  } catch (error) {
    if (isAlliumError(error, 'options.invalid')) throw new UsageError(error.message)
    if (counts.cursor !== undefined) context.stderr.write(`Continue with --cursor ${counts.cursor}\n`)
    throw error
  } finally {
    context.off('SIGINT', stop)
    await store.close()
  }
}

function count(
  counts: Counts,
  { cursor, done, total, passages, skipped, key }: ReindexedSession,
  { stderr }: CommandContext,
) {
  counts.sessions++
  counts.passages += passages
  counts.cursor = cursor
  if (skipped !== undefined) {
    counts.skipped[skipped] = (counts.skipped[skipped] ?? 0) + 1
    if (skipped !== 'off') stderr.write(`${visible(key.sessionId)} of ${visible(key.owner)}: ${skipped}\n`)
  }
  if (stderr.isTTY === true) stderr.write(`\r${done} of ${total} `)
}

function textOf({ sessions, passages, skipped, cursor }: Counts, isStopped: boolean): string {
  const reasons = Object.entries(skipped).map(([reason, n]) => `${n} ${reason}`)
  const left = reasons.length === 0 ? '' : ` Left as they are: ${reasons.join(', ')}.`
  const rest = isStopped && cursor !== undefined ? ` Stopped. Continue with --cursor ${cursor}` : ''
  return `Wrote ${passages} passages of ${sessions} sessions.${left}${rest}`
}

function valuesOf(argv: readonly string[]) {
  const options = {
    ...{ store: string, tenant: string, owner: string, language: string, cursor: string },
    agent: { type: 'string', multiple: true },
    json: { type: 'boolean' },
  } as const
  try {
    return parseArgs({ args: [...argv], options }).values
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
}
