import { AlliumError, isAlliumError, messageOf } from '@allium/core'
import type { RunSummary } from '@allium/store'
import { bounded, invalid, plainText } from './bounds.ts'
import type { ListRunsOptions } from './list-options.ts'
import type { BulkAction, BulkOptions, BulkResult, Operations } from './operations.ts'
import { changeable } from './refusals.ts'

/** Most runs of one call. */
const maxRuns = 10_000
/** Most refusals that the result lists. */
const maxRefusals = 100

/** Counts the runs that match, or changes each of them. */
export async function bulk(ops: Operations, action: BulkAction, options: BulkOptions): Promise<BulkResult> {
  if (!Object.hasOwn(changeable, action))
    throw invalid('action', `one of ${Object.keys(changeable).join(', ')}`, action)
  const { where, dryRun = false, limit = maxRuns, to, ...change } = options ?? {}
  checkWhere(where)
  for (const [name, value] of Object.entries({ operator: change.operator, reason: change.reason }))
    if (value !== undefined) plainText(name, value)
  const { runs, ...found } = await matching(ops, where, { action, limit: bounded('limit', limit, maxRuns) })
  if (dryRun) return { ...found, changed: 0, refused: [] }
  const refused: { run: string; tenant: string; reason: string }[] = []
  let changed = 0
  for (const { run, key } of runs) {
    const reason = await changeOne(ops, action, run, { ...change, to, tenant: key.tenant })
    if (reason === undefined) changed++
    else if (refused.length < maxRefusals) refused.push({ run, tenant: key.tenant, reason })
  }
  return { ...found, changed, refused }
}

/** An empty filter would change all runs. */
function checkWhere(where: BulkOptions['where'] | undefined): void {
  const conditions = Object.values(where ?? {}).filter((value) => value !== undefined)
  if (conditions.length === 0)
    throw new AlliumError(
      'run.options',
      "A change of many runs needs at least one condition, such as { status: 'failed' }, but none was given.",
    )
}

async function matching(
  ops: Operations,
  where: ListRunsOptions,
  { action, limit }: { action: BulkAction; limit: number },
): Promise<{ runs: RunSummary[]; matched: number; more: boolean }> {
  const runs: RunSummary[] = []
  const allowed = changeable[action]
  const statuses = where.status === undefined ? allowed : allowed.filter((status) => status === where.status)
  for (const status of statuses)
    for (let cursor: string | undefined; ; ) {
      const page = await ops.list({ ...where, status, cursor, limit: 1000 })
      runs.push(...page.items)
      cursor = page.cursor
      if (cursor === undefined || runs.length > limit) break
    }
  return { runs: runs.slice(0, limit), matched: Math.min(runs.length, limit), more: runs.length > limit }
}

/** Returns why the run was not changed. @throws AlliumError `store.unavailable`, `options.invalid`: the other runs would fail, too */
async function changeOne(
  ops: Operations,
  action: BulkAction,
  run: string,
  options: { to?: string | undefined; tenant: string },
): Promise<string | undefined> {
  try {
    if (action === 'retry') return (await ops.retry(run, options)).reason
    if (action === 'migrate') return migrated(await ops.migrate(run, { ...options, to: options.to ?? '' }))
    return (await ops[action](run, options)) ? undefined : 'The run has ended.'
  } catch (error) {
    if (isAlliumError(error, 'session.not_found') || isAlliumError(error, 'run.options')) return messageOf(error)
    throw error
  }
}

function migrated({ moved, reason }: Awaited<ReturnType<Operations['migrate']>>): string | undefined {
  if (moved) return undefined
  return reason ?? 'A process is executing the run.'
}
